import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import type { Platform } from '../../process/platform.js';
import type { Lane, Leave } from '../../access/limits/requests-in-work.js';
import type { Operation } from '../../schemas/http/operation.js';
import { readAhead } from '../server/read-body.js';

/** A smaller body is read before its request queues; slow uploads then occupy no slot. */
const smallBodyMax = 64 * 1024;

/** Whether a body may need much memory: its slot is taken before it is read. */
export function isLargeBody({ headers }: IncomingMessage): boolean {
  return (
    headers['transfer-encoding'] !== undefined ||
    headers['content-encoding'] !== undefined ||
    Number(headers['content-length'] ?? 0) > smallBodyMax
  );
}

/** The lane of an operation. One that starts a workflow mostly waits for it. */
export function laneOf({ weight, idempotency }: Operation): Lane {
  if (weight === 'heavy') return 'heavy';
  return idempotency === 'flow' ? 'flow' : 'light';
}

/** Waits until a tenant's request may start; call the returned function at its end. 429. */
export function takeTurn(
  ctx: Context,
  { shares }: Platform,
  tenantId: string,
  lane: Lane,
): Leave | Promise<Leave> {
  const { req, res } = ctx;
  return shares.enter(tenantId, lane, () => res.destroyed || req.socket.destroyed);
}

/** The bytes of an answer, as far as they are in memory. */
export const bytesOf = ({ body, response }: Context): number =>
  typeof body === 'string' || Buffer.isBuffer(body) ? body.length : (response.length ?? 0);

/**
 * Queues a request among those of all tenants (docs/decisions/0171). Ingestion is admitted by
 * `admit` instead, and requests without authentication are limited by address.
 */
export function waitForTurn(
  operation: Operation,
  ctx: Context,
  platform: Platform,
  tenantId: string,
): Leave | Promise<Leave> {
  const { access, family, body, bodyMax } = operation;
  if (access === 'public' || family === 'ingestion') return leaveNothing;
  if (body === undefined) return takeTurn(ctx, platform, tenantId, laneOf(operation));
  if (isLargeBody(ctx.req)) return takeTurn(ctx, platform, tenantId, 'heavy');
  const lane = laneOf(operation);
  const reading = readAhead(ctx, bodyMax);
  return reading
    ? reading.then(() => takeTurn(ctx, platform, tenantId, lane))
    : takeTurn(ctx, platform, tenantId, lane);
}

const leaveNothing = (): void => undefined;
