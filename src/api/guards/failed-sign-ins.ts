import type { Scope } from '../../kernel/scope.js';
import { recordSecurityEvent } from '../../access/security-events.js';
import type { Platform } from '../../process/platform.js';

type RequestIds = Pick<Scope, 'requestId' | 'callerRequestId'>;

/**
 * Maximum failed sign-ins that a process records in a minute: strangers must not fill log and
 * audit.
 */
const notedMax = 20;
const windowMs = 60_000;

interface Window {
  readonly startedAt: number;
  noted: number;
  unnoted: number;
}

const windows = new WeakMap<Platform, Window>();

/**
 * Whether the minute's maximum is not reached; the number left out of the last minute is logged
 * once.
 */
function hasRoom(platform: Platform): boolean {
  const at = performance.now();
  let window = windows.get(platform);
  if (!window || at - window.startedAt > windowMs) {
    if (window && window.unnoted > 0) {
      platform.log.warn({ count: window.unnoted }, 'more sign-ins failed than are written down');
    }
    window = { startedAt: at, noted: 0, unnoted: 0 };
    windows.set(platform, window);
  }
  if (window.noted >= notedMax) {
    window.unnoted += 1;
    return false;
  }
  window.noted += 1;
  return true;
}

/** A sign-in that failed: where, from where, and as much of whom as is known. */
export interface FailedSignIn {
  /** With a key or token, or at the provider of an organization. */
  readonly at: 'consent' | 'provider';
  readonly address: string;
  readonly clientId: string;
  readonly reason?: string;
  readonly issuer?: string;
}

/** Whose audit it is in: that of no tenant where none is known. */
interface Whose {
  readonly tenantId?: string | undefined;
  readonly subject?: string | undefined;
}

/**
 * Records a sign-in that failed at the consent screen or at the provider, in log and audit. How many an
 * address may have is in access/limits/attempts-of-address.ts.
 */
export async function noteFailedSignIn(
  platform: Platform,
  ids: RequestIds,
  details: FailedSignIn,
  { tenantId, subject }: Whose = {},
): Promise<void> {
  if (!hasRoom(platform)) return;
  platform.log.warn({ ...ids, ...details, tenantId }, 'a sign-in failed');
  await recordSecurityEvent(platform.database.platform, {
    tenantId: tenantId ?? null,
    actor: subject ?? null,
    entity: 'signIn',
    entityKey: null,
    action: 'refuse',
    ...ids,
    details: { ...details },
  });
}

/** Logs that a bearer value was refused. */
export function noteRefusedBearer(
  platform: Platform,
  request: RequestIds & { readonly address: string; readonly path: string },
): void {
  if (!hasRoom(platform)) return;
  platform.log.info({ ...request, path: request.path.slice(0, 200) }, 'a token was refused');
}
