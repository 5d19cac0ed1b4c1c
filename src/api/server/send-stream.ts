import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { problem } from '../../kernel/problem.js';
import type { Platform } from '../../process/platform.js';
import type { StreamedAnswer } from '../../schemas/http/operation.js';
import { recordsError } from '../presenters/problem.js';
import { problemOf } from './problem-of.js';

/** Who reads nothing for so long has left. */
const idleMs = 60_000;

/** Thrown where nobody reads any more: nothing is left to be said, and to no one. */
class ReaderGone extends Error {}

/** Waits until what was written is on its way. */
function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.reject(new ReaderGone());
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      response.off('drain', onDrain).off('close', onClose);
    };
    const onDrain = (): void => {
      end();
      resolve();
    };
    const onClose = (): void => {
      end();
      reject(new ReaderGone());
    };
    const timer = setTimeout(onClose, idleMs);
    response.on('drain', onDrain).on('close', onClose);
  });
}

interface Sending {
  readonly ctx: Context;
  readonly answer: StreamedAnswer;
  readonly platform: Platform;
}

/** Says that the answer is not whole, and cuts the connection: no client takes it for all. */
function breakOff({ ctx, answer, platform }: Sending, error: unknown): void {
  const { res } = ctx;
  if (error instanceof ReaderGone || res.destroyed) {
    res.destroy();
    return;
  }
  const failure = problemOf(error);
  const { requestId } = ctx.state as { requestId: string };
  platform.log.error({ err: error, requestId, path: ctx.path }, 'an export broke off');
  const { code, message } = recordsError(failure);
  const last = answer.breakOff({ code, message });
  if (last === null) res.destroy();
  else res.write(last, () => res.destroy());
}

async function sendParts(
  { ctx, answer: { parts }, platform }: Sending,
  first: IteratorResult<string | Uint8Array, void>,
): Promise<void> {
  const { res } = ctx;
  for (let next = first; next.done !== true; next = await parts.next()) {
    if (!res.write(next.value)) await drained(res);
    if (res.destroyed) throw new ReaderGone();
    if (platform.health.isEnding) {
      throw problem.overloaded('This process is about to end; go on behind the last cursor.');
    }
  }
  res.end();
}

/**
 * Sends an answer part by part, each when the one before it was taken. What fails before the first part
 * is answered as any other fault. Resolves when the first part is sent: what follows holds no place among
 * requests. 429: the tenant has as many as it may.
 */
export async function sendStream(
  ctx: Context,
  answer: StreamedAnswer,
  platform: Platform,
  tenantId: string,
): Promise<void> {
  const { contentType, fileName, parts } = answer;
  const leave = platform.streams.enter(tenantId);
  const end = (): void => {
    leave();
    void parts.return();
  };
  let first: IteratorResult<string | Uint8Array, void>;
  try {
    first = await parts.next();
  } catch (error) {
    end();
    throw error;
  }
  ctx.status = 200;
  ctx.set({
    'Content-Type': contentType,
    'Content-Disposition': `attachment; filename=${fileName}`,
  });
  // What no request takes back, Koa is not to send.
  ctx.respond = false;
  if (ctx.method === 'HEAD') {
    ctx.res.end();
    end();
    return;
  }
  const sending = { ctx, answer, platform };
  void sendParts(sending, first)
    .catch((error: unknown) => breakOff(sending, error))
    .finally(end);
}
