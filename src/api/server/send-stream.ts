import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { problem } from '../../kernel/problem.js';
import type { Platform } from '../../process/platform.js';
import type { StreamedAnswer } from '../../schemas/http/operation.js';
import { recordsError } from '../presenters/problem.js';
import { problemOf } from './problem-of-error.js';

/** Timeout of a client that does not read. */
const idleMs = 60_000;

/** Thrown when the client has disconnected, so that no answer is possible. */
class ReaderGone extends Error {}

/** Waits until the write buffer is drained (back-pressure). */
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

/**
 * Marks the answer as incomplete, and closes the connection, so that no client takes it for
 * complete.
 */
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
 * Streams an answer, each part after the one before it was accepted by the client. An error before
 * the first part is answered as usual. Resolves when the first part is sent, so that the rest
 * occupies no slot. 429: the tenant has reached its maximum of streams.
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
  // The response is written here, not by Koa.
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
