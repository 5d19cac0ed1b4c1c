import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Context } from 'koa';

/** What is left of a body that is this small is read, and its connection stays. */
const keptBytesMax = 64 * 1024;
/** More than any operation takes: who sends on after that finds the connection reset. */
const drainedBytesMax = 64 * 1024 * 1024;
const drainMs = 5_000;

/** What is read and forgotten in a tick, of all bodies: 32 MiB in a second. Each reads some 64 KiB at a time. */
const tickMs = 10;
const tickBytes = 320 * 1024;
const readersPerTick = tickBytes / (64 * 1024);

/**
 * Lets bodies that nobody wants be read no faster than this in all: read as fast as they are sent, a
 * gigabyte in a second, they would keep the process from everything else.
 */
class Pace {
  #left = tickBytes;
  #timer: NodeJS.Timeout | undefined;
  readonly #waiting = new Set<IncomingMessage>();

  /** Has a request wait where all together have read enough for the moment. */
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

/** Connections that end with an answer: no request that follows on them is carried out (RFC 9112, 9.6). */
const ending = new WeakSet<Socket>();

/** Whether the connection ends with an answer that was given before this request. */
export const isEnding = ({ socket }: IncomingMessage): boolean => ending.has(socket);

/** Reads and forgets what is left of a body, within limits; then `done`, once. */
function drain(request: IncomingMessage, done: () => void): void {
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

/** Whether what is left of a body is known to be little, on a connection that shall stay. */
function isShort({ headers }: IncomingMessage, { shouldKeepAlive }: ServerResponse): boolean {
  const length = Number(headers['content-length'] ?? NaN);
  return shouldKeepAlive && headers['transfer-encoding'] === undefined && length <= keptBytesMax;
}

/**
 * Sends an answer to a request of whose body something may be unread. The answer goes out at once. What
 * is left is then read and forgotten within bounds of bytes and time: a connection that closed while its
 * client still sends would be reset, and the answer lost; one that stayed would give what is unread, or
 * nothing at all, to the next request on it.
 */
export function answerUnread(
  request: IncomingMessage,
  response: ServerResponse,
  body: string | Buffer,
): void {
  if (request.complete || isShort(request, response)) {
    response.end(body);
    drain(request, () => {
      if (!request.complete) request.socket.destroy();
    });
    return;
  }
  ending.add(request.socket);
  response.setHeader('Connection', 'close');
  if (body.length === 0) response.flushHeaders();
  else response.write(body);
  // The end closes the connection.
  drain(request, () => response.end());
}

/** The same for an answer of Koa, where something of the body is unread; all others are Koa's to send. */
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
