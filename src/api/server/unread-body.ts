import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Context } from 'koa';

/** The unread rest of a body up to this size is read, so that its connection can be kept. */
const keptBytesMax = 64 * 1024;
/** More than any operation accepts; after it the connection is reset. */
const drainedBytesMax = 64 * 1024 * 1024;
const drainMs = 5_000;

/** Interval of reading and discarding bodies: 32 MiB per second in total, some 64 KiB each time. */
const tickMs = 10;
const tickBytes = 320 * 1024;
const readersPerTick = tickBytes / (64 * 1024);

/**
 * Limits the rate at which discarded bodies are read in total: at network speed, a gigabyte per
 * second, they would starve all other work.
 */
class Pace {
  #left = tickBytes;
  #timer: NodeJS.Timeout | undefined;
  readonly #waiting = new Set<IncomingMessage>();

  /** Pauses a request when the total of this interval is used up. */
  count(request: IncomingMessage, bytes: number): void {
    this.#left -= bytes;
    this.#timer ??= setInterval(() => this.#tick(), tickMs).unref();
    if (this.#left > 0) return;
    request.pause();
    this.#waiting.add(request);
  }

  forget(request: IncomingMessage): void {
    this.#waiting.delete(request);
  }

  #tick(): void {
    this.#left = tickBytes;
    for (const request of [...this.#waiting].slice(0, readersPerTick)) {
      this.#waiting.delete(request);
      request.resume();
    }
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

const pace = new Pace();

/** Connections that close after an answer: further requests on them are ignored (RFC 9112, 9.6). */
const ending = new WeakSet<Socket>();

/** Whether the connection ends with an answer that was given before this request. */
export const isEnding = ({ socket }: IncomingMessage): boolean => ending.has(socket);

/** Reads and discards the rest of a body, within limits; then calls `done`, once. */
function discardBody(request: IncomingMessage, done: () => void): void {
  let bytes = 0;
  let isDone = false;
  const finish = (): void => {
    if (isDone) return;
    isDone = true;
    clearTimeout(timer);
    pace.forget(request);
    done();
  };
  const timer = setTimeout(finish, drainMs);
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > drainedBytesMax) finish();
    else if (!isDone) pace.count(request, chunk.length);
  });
  request.once('end', finish).once('close', finish);
  request.resume();
}

/** Whether the unread rest of a body is known to be small, on a connection that is kept alive. */
function isShort({ headers }: IncomingMessage, { shouldKeepAlive }: ServerResponse): boolean {
  const length = Number(headers['content-length'] ?? NaN);
  return shouldKeepAlive && headers['transfer-encoding'] === undefined && length <= keptBytesMax;
}

/**
 * Answers a request whose body may be partly unread. The answer is sent at once; then the rest is
 * read and discarded, within limits of bytes and time. Closing while the client still sends would
 * reset the connection and lose the answer; keeping it open would make the rest part of the next
 * request.
 */
export function answerUnread(
  request: IncomingMessage,
  response: ServerResponse,
  body: string | Buffer,
): void {
  if (request.complete || isShort(request, response)) {
    response.end(body);
    discardBody(request, () => {
      if (!request.complete) request.socket.destroy();
    });
    return;
  }
  ending.add(request.socket);
  response.setHeader('Connection', 'close');
  if (body.length === 0) response.flushHeaders();
  else response.write(body);
  // The end closes the connection.
  discardBody(request, () => response.end());
}

/** The same for an answer of Koa, if the body is partly unread; Koa sends all others itself. */
export function answerBeforeEnd(ctx: Context): void {
  const { req, res, body } = ctx;
  if (req.complete && req.readableLength === 0) return;
  if (req.destroyed || res.headersSent || isStream(body)) return;
  const text = Buffer.isBuffer(body) || typeof body === 'string' ? body : textOf(body);
  ctx.respond = false;
  if (ctx.status !== 204 && ctx.status !== 304) ctx.length = Buffer.byteLength(text);
  answerUnread(req, res, ctx.method === 'HEAD' ? '' : text);
}

const textOf = (body: unknown): string =>
  body === null || body === undefined ? '' : JSON.stringify(body);

const isStream = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && 'pipe' in body;
