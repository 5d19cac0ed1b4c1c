import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Context } from 'koa';
import type { Problem } from '../../kernel/problem.js';
import type { Platform } from '../../process/platform.js';
import type { RequestState } from '../mount-operations.js';

/** Less than a refused client is told to wait before it sends the next request; not all at the same moment. */
const heldMs = { least: 250, most: 750 };
/** How long one waits at most for those that were refused on its connection before it. */
const behindMaxMs = 10_000;
/** Refusals that are held at once; more are answered at once. */
const heldMax = 2_000;

let held = 0;
/** Until when the last one of a connection is held. */
const heldUntil = new WeakMap<Socket, number>();

/** How long this one is held: requests of one connection that are in work together are answered one by one. */
function takeHold(socket: Socket): number {
  const now = performance.now();
  const after = Math.min(Math.max(heldUntil.get(socket) ?? 0, now), now + behindMaxMs);
  const until = after + heldMs.least + Math.random() * (heldMs.most - heldMs.least);
  heldUntil.set(socket, until);
  return until - now;
}

/**
 * Holds what is refused to a tenant for being too much (429, or 503 where it says to send it again) while
 * requests of others are late: a client that sends the next request as soon as one is answered would fill the
 * process with refusals (docs/decisions/0528).
 */
export async function holdRefusal(
  ctx: Context,
  { shares }: Platform,
  { kind }: Problem,
): Promise<void> {
  if (kind !== 'rateLimited' && kind !== 'overloaded') return;
  const { tenantId } = ctx.state as RequestState;
  if (!tenantId || held >= heldMax || !shares.isLateForOthersThan(tenantId)) return;
  held += 1;
  // Nobody reads it any more.
  ctx.request.body = null;
  await wait(takeHold(ctx.req.socket));
  held -= 1;
}
