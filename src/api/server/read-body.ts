import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import koaBody from 'koa-body';
import type { Context } from 'koa';
import { Problem, problem } from '../../kernel/problem.js';
import { Portions } from '../../kernel/portions.js';
import type { Operation } from '../../schemas/http/operation.js';
import {
  parseJson,
  parseJsonInPortions,
  portionedFrom,
  refuseUnstorableText,
  repeatedNamesProblem,
} from './unstorable-text.js';

const mebibyte = 1024 * 1024;
/** Of a body, unless its operation says otherwise (spec/gateway.md R7). */
export const bodyBytesMax = mebibyte;

/** Values within a body, each of which takes some hundred bytes of memory (docs/decisions/0182). */
export const valuesMax = 200_000;
const bulkValuesMax = 500_000;

type Reader = (ctx: Context, next: () => Promise<void>) => Promise<void>;
const readers = new Map<number, Reader>();

/**
 * Reads the body as text, whatever its type: JSON is parsed by ours, without floats. A
 * character for each byte: other decoders would put U+FFFD for what is no UTF-8.
 */
function readerOf(bodyMax: number): Reader {
  const known = readers.get(bodyMax);
  if (known) return known;
  const reader: Reader = koaBody({
    json: false,
    urlencoded: false,
    text: true,
    textTypes: ['*/*'],
    textLimit: bodyMax,
    // By this name iconv leaves it to Node; it decodes `latin1` itself, byte by byte.
    encoding: 'binary',
  });
  readers.set(bodyMax, reader);
  return reader;
}

function bodyProblem(error: unknown, bodyMax: number): Problem {
  const { type, code } = error as { type?: string; code?: string };
  if (type === 'entity.too.large') {
    const most = bodyMax < mebibyte ? `${bodyMax / 1024} KiB` : `${bodyMax / mebibyte} MiB`;
    return problem.tooLarge(`The request body is larger than ${most}.`);
  }
  if (type === 'request.aborted' || type === 'request.size.invalid') {
    return problem.validation('The request body ended too early.');
  }
  // Compressed bodies fail in zlib (Z_DATA_ERROR, Z_BUF_ERROR) or name an unknown encoding.
  if (code?.startsWith('Z_') === true || type === 'encoding.unsupported') {
    return problem.validation('The compressed request body cannot be read.');
  }
  return problem.validation('The request body cannot be read.');
}

/** What a body may come to in memory: the most that it may have, where it does not say, or is compressed. */
export function bytesOfBody({ req }: Context, bodyMax = bodyBytesMax): number {
  const { 'content-length': length, 'content-encoding': encoding } = req.headers;
  return length === undefined || encoding !== undefined
    ? bodyMax
    : Math.min(Number(length), bodyMax);
}

/** The text of bytes, each given as a character; a promise unless they are ASCII. */
const textOf = (bytes: string): string | Promise<string> =>
  /[\u0080-\u00ff]/.test(bytes) ? decodeUtf8(bytes) : bytes;

/** A long text in portions. 400: the bytes are no UTF-8. */
async function decodeUtf8(bytes: string): Promise<string> {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  const portions = new Portions();
  const texts: string[] = [];
  try {
    for (let from = 0; from < bytes.length; from += mebibyte) {
      const portion = Buffer.from(bytes.slice(from, from + mebibyte), 'latin1');
      texts.push(utf8.decode(portion, { stream: true }));
      if (portions.isOver) await portions.rest();
    }
    texts.push(utf8.decode());
    return texts.join('');
  } catch {
    throw problem.validation('The request body is not valid UTF-8.');
  }
}

/** How long a body may take however small it is, and how many bytes a second it then has to have come. */
const freeMs = 15_000;
const bytesPerSecondMin = 128 * 1024;

const lookMs = 1_000;

/** A body that is being read. */
interface Reading {
  readonly socket: Socket;
  readonly at: number;
  readonly bytes: number;
  readonly refuse: (error: Error) => void;
}

const underWay = new Set<Reading>();
let looking: NodeJS.Timeout | undefined;

/** Refuses each body that comes so slowly that it would hold its place for minutes. */
function lookAtPace(): void {
  const now = performance.now();
  for (const { socket, at, bytes, refuse } of underWay) {
    const expected = ((now - at - freeMs) / 1000) * bytesPerSecondMin;
    if (socket.bytesRead - bytes < expected) {
      refuse(problem.validation('The request body came too slowly.'));
    }
  }
  if (underWay.size > 0) return;
  clearInterval(looking);
  looking = undefined;
}

/** The methods of which `koa-body` reads bodies. */
const methodsWithBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);
const plainJson = /^application\/json(?:; ?charset=utf-8)?$/i;

/**
 * Whether a body has come as a whole with its headers, as small ones do, and needs no more than to be
 * taken: JSON as it is, of the length that it says.
 */
function hasArrived({ req, method }: Context, bodyMax: number): boolean {
  const { headers, complete, readableLength, readableDidRead } = req;
  return (
    complete &&
    !readableDidRead &&
    readableLength > 0 &&
    readableLength <= bodyMax &&
    methodsWithBody.has(method) &&
    headers['content-encoding'] === undefined &&
    headers['content-length'] === String(readableLength) &&
    plainJson.test(headers['content-type'] ?? '')
  );
}

/** The bytes of a body that has arrived, each as a character. */
const takeArrived = ({ req }: Context): string => (req.read() as Buffer).toString('latin1');

const readBefore = new WeakSet<IncomingMessage>();

const noNext = (): Promise<void> => Promise.resolve();

/**
 * Reads a body before it is asked for, so that its request waits for its turn without its client. One
 * timer watches the pace of all of them: a late one is not waited for, its connection is about to end.
 * Returns a promise only if the body has not arrived.
 */
export function readAhead(ctx: Context, bodyMax = bodyBytesMax): Promise<void> | undefined {
  const { req } = ctx;
  if (hasArrived(ctx, bodyMax)) {
    (ctx.request as { body?: unknown }).body = takeArrived(ctx);
    readBefore.add(req);
    return undefined;
  }
  return readArriving(ctx, bodyMax);
}

function readArriving(ctx: Context, bodyMax: number): Promise<void> {
  const { req } = ctx;
  const { socket } = req;
  return new Promise((resolve, reject) => {
    const one = { socket, at: performance.now(), bytes: socket.bytesRead, refuse: reject };
    underWay.add(one);
    looking ??= setInterval(lookAtPace, lookMs);
    readerOf(bodyMax)(ctx, noNext).then(
      () => {
        underWay.delete(one);
        readBefore.add(req);
        resolve();
      },
      (error: unknown) => {
        underWay.delete(one);
        reject(error instanceof Problem ? error : bodyProblem(error, bodyMax));
      },
    );
  });
}

/**
 * The text of the body, a promise unless it has arrived and is ASCII; throws a problem when it is too
 * large, too slow or cannot be read.
 */
export function readBodyText(ctx: Context, bodyMax = bodyBytesMax): string | Promise<string> {
  if (readBefore.has(ctx.req)) return takeRead(ctx);
  if (hasArrived(ctx, bodyMax)) return textOf(takeArrived(ctx));
  return readArriving(ctx, bodyMax).then(() => takeRead(ctx));
}

/** The text of a body that was read before. */
function takeRead(ctx: Context): string | Promise<string> {
  const body: unknown = ctx.request.body;
  // Nobody else reads it there, and it would be kept for as long as the request lasts.
  (ctx.request as { body?: unknown }).body = undefined;
  return typeof body === 'string' ? textOf(body) : '';
}

/** JSON between systems is UTF-8 (RFC 8259, section 8.1); ASCII is part of it. */
const charsets = new Set(['', 'utf-8', 'utf8', 'us-ascii', 'ascii']);

/** A body as it was sent, and what it says. */
export interface JsonBody {
  readonly text: string;
  readonly value: unknown;
}

/** Whether a body was sent: one of another content type is not read, and must not count as none. */
const hasContent = (ctx: Context): boolean =>
  ctx.get('transfer-encoding') !== '' || Number(ctx.get('content-length') || 0) > 0;

/** The body of an operation as JSON; a promise unless it has arrived, and is short. */
export function readBody(ctx: Context, operation: Operation): JsonBody | Promise<JsonBody> {
  const text = readBodyText(ctx, operation.bodyMax);
  return typeof text === 'string'
    ? readJson(ctx, operation, text)
    : text.then((whole) => readJson(ctx, operation, whole));
}

function readJson(ctx: Context, operation: Operation, text: string): JsonBody | Promise<JsonBody> {
  if (text.trim() === '') {
    if (operation.isBodyOptional === true && !hasContent(ctx)) return { text: '{}', value: {} };
    throw problem.validation('A JSON body is required.');
  }
  const { 'content-type': type = '' } = ctx.headers;
  if (!plainJson.test(type)) checkType(ctx, type);
  if (text.length >= portionedFrom || operation.writtenPart !== undefined)
    return readLongJson(operation, text);
  const value = parseJson(text);
  if (operation.family !== 'ingestion') refuseUnstorableText(text, value);
  return { text, value };
}

/** 400: a body is no JSON by its headers, or no UTF-8. */
function checkType(ctx: Context, type: string): void {
  if (!type.startsWith('application/json') && ctx.is('json', '+json') === false) {
    throw problem.validation('The Content-Type must be application/json.');
  }
  if (!charsets.has(ctx.request.charset.toLowerCase())) {
    throw problem.validation('The charset of the body must be UTF-8.');
  }
}

async function readLongJson(operation: Operation, text: string): Promise<JsonBody> {
  const { bodyMax = bodyBytesMax, writtenPart } = operation;
  const value = await parseJsonInPortions(text, bodyMax > mebibyte ? bulkValuesMax : valuesMax);
  if (operation.family !== 'ingestion') refuseUnstorableText(text, value);
  const refused =
    writtenPart === undefined ? undefined : await repeatedNamesProblem(text, writtenPart);
  if (refused) throw refused;
  return { text, value };
}
