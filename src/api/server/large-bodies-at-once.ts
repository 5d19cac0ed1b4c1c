import type { Context } from 'koa';
import { problem } from '../../kernel/problem.js';
import type { Operation } from '../../schemas/http/operation.js';
import { bytesOfBody } from './read-body.js';

const mebibyte = 1024 * 1024;
/** Smaller bodies do not wait: they are parsed in a few milliseconds. */
export const largeBodyMin = 256 * 1024;
/**
 * Maximum bytes of large bodies being processed at a time; each takes about eight times its size.
 */
const bytesMax = 48 * mebibyte;
/** The part of it that one tenant may use while others wait: one bulk request of maximum size. */
const tenantBytesMax = 16 * mebibyte;
/** Maximum waiting requests; their bodies are unread, and held by the network's buffers only. */
const waitingMax = 512;
const tenantWaitingMax = 128;
const waitMaxMs = 30_000;

interface Waiter {
  readonly tenantId: string;
  readonly bytes: number;
  readonly begin: () => void;
}

/**
 * Limits the large bodies of one process by bytes, first in, first out, except that no tenant waits
 * for another one's limit (docs/decisions/0182).
 */
export class BodyBudget {
  #bytes = 0;
  readonly #byTenant = new Map<string, number>();
  readonly #waiting: Waiter[] = [];

  #heldBy(tenantId: string): number {
    return this.#byTenant.get(tenantId) ?? 0;
  }

  #hasRoom({ tenantId, bytes }: Waiter): boolean {
    return this.#bytes + bytes <= bytesMax && this.#heldBy(tenantId) + bytes <= tenantBytesMax;
  }

  #hold({ tenantId, bytes }: Waiter, sign: 1 | -1): void {
    this.#bytes += sign * bytes;
    const held = this.#heldBy(tenantId) + sign * bytes;
    if (held > 0) this.#byTenant.set(tenantId, held);
    else this.#byTenant.delete(tenantId);
  }

  #leave(waiter: Waiter): void {
    this.#hold(waiter, -1);
    const begun = new Set<Waiter>();
    for (const next of this.#waiting) {
      // A body that waits for bytes about to be freed is not overtaken by smaller ones.
      const isHeldBack = this.#heldBy(next.tenantId) + next.bytes > tenantBytesMax;
      if (isHeldBack) continue;
      if (!this.#hasRoom(next)) break;
      this.#hold(next, 1);
      begun.add(next);
    }
    for (const next of begun) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      next.begin();
    }
  }

  /**
   * Waits until there is room; returns the function that frees it. 503: too many wait, or for too
   * long.
   */
  async enter(tenantId: string, bytes: number, ended?: AbortSignal): Promise<() => void> {
    const ofTenant = this.#waiting.filter((one) => one.tenantId === tenantId).length;
    const waiter = await new Promise<Waiter>((resolve, reject) => {
      const refuse = (): void => {
        clearTimeout(timer);
        const index = this.#waiting.indexOf(one);
        if (index < 0) return;
        this.#waiting.splice(index, 1);
        reject(problem.overloaded('Too many large bodies are being worked on; send it again.'));
      };
      const begin = (): void => {
        clearTimeout(timer);
        resolve(one);
      };
      const one: Waiter = { tenantId, bytes, begin };
      const timer = setTimeout(refuse, waitMaxMs);
      ended?.addEventListener('abort', refuse, { once: true });
      const isFull = this.#waiting.length >= waitingMax || ofTenant >= tenantWaitingMax;
      if (ofTenant === 0 && this.#hasRoom(one)) {
        this.#hold(one, 1);
        begin();
      } else {
        this.#waiting.push(one);
        if (isFull) refuse();
      }
    });
    let hasLeft = false;
    return () => {
      if (!hasLeft) this.#leave(waiter);
      hasLeft = true;
    };
  }
}

const budget = new BodyBudget();
const nothing = (): void => undefined;

/**
 * Ingestion takes numbers of any form, each of which may become an object: a body of nothing else
 * takes forty times its size.
 */
const ingestionWeight = 4;

/** What a request's body counts. */
function countedOf(ctx: Context, { bodyMax, family }: Operation): number {
  const bytes = bytesOfBody(ctx, bodyMax);
  return family === 'ingestion' ? ingestionWeight * bytes : bytes;
}

/**
 * Admits a request with a large body when there is room for it; returns the function that frees it.
 * Returns a promise only if it may have to wait. Of ingestion, `IngestionAtOnce` bounds the number of
 * requests besides.
 */
export function enterWithBody(
  ctx: Context,
  operation: Operation,
  tenantId: string,
): (() => void) | Promise<() => void> {
  if (!operation.body) return nothing;
  const bytes = countedOf(ctx, operation);
  return bytes < largeBodyMin ? nothing : waitForRoom(ctx, tenantId, bytes);
}

async function waitForRoom(ctx: Context, tenantId: string, bytes: number): Promise<() => void> {
  const ended = new AbortController();
  const onClose = (): void => ended.abort();
  ctx.res.once('close', onClose);
  try {
    return await budget.enter(tenantId, bytes, ended.signal);
  } finally {
    ctx.res.off('close', onClose);
  }
}
