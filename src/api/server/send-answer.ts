import { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { Operation, Redirect, StoredFile } from '../../schemas/http/operation.js';
import { stringifyJsonInPortions } from './unstorable-text.js';
import { presentReply } from '../presenters/reply.js';

/** What an answer has to know of its request. */
interface Asked {
  readonly requestId: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** A name that a header can hold as it is: a token (RFC 9110, section 5.6.2). */
const plainName = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * The file name is not quoted (docs/decisions/0073), except where it must be, and is encoded if it
 * is not ASCII (RFC 6266, RFC 8187).
 */
function sendFile(ctx: Context, contentType: string, { fileName, bytes }: StoredFile): void {
  if (plainName.test(fileName)) ctx.set('Content-Disposition', `attachment; filename=${fileName}`);
  else ctx.attachment(fileName);
  ctx.type = contentType;
  ctx.body = bytes;
}

/** Not by Koa, which refuses `Secure` cookies behind a proxy that terminates TLS. */
function sendRedirect(ctx: Context, { location, cookies }: Redirect, isSecure: boolean): void {
  for (const { name, value, maxAgeSeconds } of cookies) {
    const attributes = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax`;
    ctx.append('Set-Cookie', `${name}=${value}; ${attributes}${isSecure ? '; Secure' : ''}`);
  }
  // No body, which Koa would write itself.
  ctx.body = null;
  ctx.status = 302;
  ctx.set('Location', location);
}

/** The JSON of an answer; null where it has no body. */
export function answerText(
  { success, body: bodySchema }: Operation,
  result: unknown,
  { requestId, query, body }: Asked,
): string | Promise<string> | null {
  if (success.kind === 'empty' || success.kind === 'file' || success.kind === 'redirect')
    return null;
  if (success.kind === 'stream' || success.kind === 'events') {
    throw new Error('A stream has no text: see send-stream.ts and event-stream.ts.');
  }
  // A search says in its body which page it wants.
  const isList = success.kind === 'offsetPage';
  const asked = isList && bodySchema ? (body as typeof query) : query;
  const answered = presentReply(success, result, { requestId, query: asked });
  return stringifyJsonInPortions(answered, { isUneven: isList });
}

/** Characters of a text that are sent at once, in about a millisecond. */
const sentAtOnce = 64 * 1024;
/** Longer texts are sent in pieces. */
const sentWhole = 4 * sentAtOnce;

/** The bytes of a text in pieces, none of which ends within a character. */
function* piecesOf(text: string): Generator<Buffer, void, undefined> {
  for (let from = 0; from < text.length;) {
    const last = from + sentAtOnce - 1;
    const isWithinPair = (text.charCodeAt(last) & 0xfc00) === 0xd800;
    const end = isWithinPair ? last : last + 1;
    yield Buffer.from(text.slice(from, end));
    from = end;
  }
}

/** Answers with a text of JSON, one piece after the other: eight mebibytes at once are a tenth of a second. */
export function sendText(ctx: Context, text: string): void {
  ctx.set('Content-Type', 'application/json; charset=utf-8');
  if (text.length <= sentWhole) {
    ctx.body = text;
    return;
  }
  ctx.body = Readable.from(piecesOf(text), { objectMode: false });
  ctx.length = Buffer.byteLength(text);
}

/** Answers with a text of JSON, or with a status alone. */
export function sendJson(ctx: Context, status: number, text: string | null): void {
  ctx.status = status;
  if (text !== null) sendText(ctx, text);
}

/** Sends the answer of an operation. Returns a promise only if its text takes long to write. */
export function sendAnswer(
  ctx: Context,
  operation: Operation,
  result: unknown,
  { isSecure, ...asked }: Asked & { readonly isSecure: boolean },
): Promise<void> | undefined {
  const { success } = operation;
  if (success.kind === 'redirect') {
    sendRedirect(ctx, result as Redirect, isSecure);
    return undefined;
  }
  if (success.kind === 'file') {
    ctx.status = success.status;
    sendFile(ctx, success.contentType, result as StoredFile);
    return undefined;
  }
  const text = answerText(operation, result, asked);
  if (text instanceof Promise) return text.then((all) => sendJson(ctx, success.status, all));
  sendJson(ctx, success.status, text);
  return undefined;
}
