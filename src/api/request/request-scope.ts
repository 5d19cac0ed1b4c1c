import type { CredentialRef, Scope } from '../../kernel/scope.js';
import type { Identity } from '../../access/authenticate.js';
import type { Platform } from '../../process/platform.js';

/** The request's ids in the audit: ours, and the one that the caller chose. */
export type RequestIds = Pick<Scope, 'requestId' | 'callerRequestId'>;

/** The scope of a request; a promise where the tenant's time has to be read. */
export function scopeOf(
  identity: Identity,
  ids: RequestIds,
  platform: Platform,
): Scope | Promise<Scope> {
  const clock = platform.clocks.of(identity.tenantId);
  return clock instanceof Promise
    ? clock.then((now) => scopeAt(now, identity, ids, platform))
    : scopeAt(clock, identity, ids, platform);
}

/** The scope of a request in real time, which needs no database. */
export const realScopeOf = (identity: Identity, ids: RequestIds, platform: Platform): Scope =>
  scopeAt(platform.now, identity, ids, platform);

function scopeAt(now: () => Date, identity: Identity, ids: RequestIds, platform: Platform): Scope {
  const { tenantId, orgId, roles, subject: actor, accountId: embeddedAccountId } = identity;
  const { requestId, callerRequestId } = ids;
  const trail = { actor, requestId, callerRequestId };
  const { database, now: realNow } = platform;
  const db = database.forTenant(tenantId, trail, 'request');
  const home =
    database.cells.length === 1 ? undefined : database.home.forTenant(tenantId, trail, 'request');
  return {
    tenantId,
    orgId,
    roles,
    requestId,
    callerRequestId,
    actor,
    credential: credentialOf(identity),
    credentialEndsAt: identity.credential?.endsAt,
    embeddedAccountId,
    db,
    home,
    now,
    realNow,
  };
}

function credentialOf({ credential, grant }: Identity): CredentialRef | undefined {
  if (!credential) return undefined;
  const { kind, id, kid } = credential;
  return { kind, id, kid, grantId: grant?.id ?? null };
}
