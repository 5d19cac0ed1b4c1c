import type { Context } from 'koa';
import { problem } from '../../kernel/problem.js';
import type { Platform } from '../../process/platform.js';
import type { RateLimitState } from '../../access/limits/requests-per-minute.js';
import type { Operation } from '../../schemas/http/operation.js';
import { bytesOfBody } from '../server/read-body.js';

function refuse(state: RateLimitState, message: string): never {
  const { limit, retryAfterSeconds } = state;
  throw problem.rateLimited(`${message} Wait ${retryAfterSeconds} s.`, {
    limit,
    retryAfterSeconds,
  });
}

/**
 * Counts a request under its tenant's plan, where the operation is limited; every answer tells how
 * the tenant stands (spec/platform.md R43 to R46). 429: the minute's requests are used up.
 */
export function limitRequest(
  operation: Operation,
  ctx: Context,
  platform: Platform,
  tenantId: string,
): Promise<void> | undefined {
  if (operation.rateLimit !== 'requests') return undefined;
  return countRequest(ctx, platform, tenantId);
}

async function countRequest(
  ctx: Context,
  { rateLimits }: Platform,
  tenantId: string,
): Promise<void> {
  const state = await rateLimits.countRequest(tenantId);
  ctx.set({
    'X-RateLimit-Limit': String(state.limit),
    'X-RateLimit-Remaining': String(state.remaining),
    'X-RateLimit-Reset': String(state.resetAt),
  });
  if (state.isExceeded) {
    refuse(state, `More than ${state.limit} requests in this minute.`);
  }
}

/** Counts a call that comes without HTTP as the request that it is. 429: those of the minute are used up. */
export async function limitCall(
  { rateLimit }: Operation,
  { rateLimits }: Platform,
  tenantId: string,
  body: unknown,
  by: 'clients' | 'workflows',
): Promise<void> {
  if (rateLimit === undefined) return;
  const state =
    rateLimit === 'requests'
      ? await rateLimits.countRequest(tenantId, by)
      : await rateLimits.countEvents(tenantId, Array.isArray(body) ? body.length : 1);
  if (state?.isExceeded === true) refuse(state, `More than ${state.limit} in this minute.`);
}

/** Counts usage events, where the instance limits them. 429: those of the minute are used up. */
export function limitEvents(
  operation: Operation,
  platform: Platform,
  tenantId: string,
  body: unknown,
): Promise<void> | undefined {
  const isCounted =
    operation.rateLimit === 'events' && platform.config.ingestEventsPerMinute !== undefined;
  if (!isCounted) return undefined;
  return countEvents(platform, tenantId, body);
}

async function countEvents(
  { rateLimits }: Platform,
  tenantId: string,
  body: unknown,
): Promise<void> {
  const state = await rateLimits.countEvents(tenantId, Array.isArray(body) ? body.length : 1);
  if (state?.isExceeded === true) {
    refuse(state, `More than ${state.limit} usage events in this minute.`);
  }
}

/**
 * Lets a request of ingestion in before its body is read, until the function that is returned is called;
 * all others always. 503: as much as can be published is under way (docs/decisions/0151). 429: so is this
 * tenant's share of it.
 */
export function admit(
  operation: Operation,
  ctx: Context,
  { admission }: Platform,
  tenantId: string,
): () => void {
  if (operation.family !== 'ingestion') return () => undefined;
  return admission.enter(tenantId, bytesOfBody(ctx));
}
