import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'undici';
import { guardedAgent, RefusedAddressError, type GuardSettings } from './guarded-agent.js';
import { NameError, type Names } from './look-up-names.js';
import type { HttpMethod } from '../../messages/definitions/http-call.js';

/** A request as it is sent. */
export interface OutgoingRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** POST, unless it says another. */
  readonly method?: HttpMethod;
  /** The whole answer is wanted, when it has no more bytes than these; undefined: its beginning. */
  readonly wholeMax?: number;
}

/** Why a request has no answer: where it would go, how long it took, how long the answer is, or none came. */
export type NoAnswer = 'refused' | 'late' | 'tooLong' | 'lost';

/** How a request went. */
export interface WebhookAnswer {
  readonly isOk: boolean;
  /** Null when there was no answer. */
  readonly statusCode: number | null;
  /** Why it failed; null when it did not. */
  readonly error: string | null;
  /** The first kilobytes of the body of the answer, or all of it where that is wanted. */
  readonly answer: string | null;
  /** Of an answer that was wanted whole. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Undefined: there was an answer, or the sender itself failed. */
  readonly noAnswer?: NoAnswer;
  readonly startedAt: Date;
  readonly durationMs: number;
}

/** Sends requests, and never rejects: whatever goes wrong is an answer with its reason. */
export interface RequestSender {
  post(post: OutgoingRequest): Promise<WebhookAnswer>;
  close(): Promise<void>;
}

class TooLongError extends Error {}

/** Bytes of an answer that are kept. */
const answerBytesMax = 4_096;
/** How long the beginning of a body is waited for once the status is known. */
const bodyMsMax = 2_000;

/**
 * Reads the beginning of a body and leaves the rest: what a receiver says beyond it, and how slowly,
 * is of no interest.
 */
async function readBeginning(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= answerBytesMax) break;
    }
  } catch {
    // The status is known: that the rest did not come changes nothing.
  }
  const text = Buffer.concat(chunks).subarray(0, answerBytesMax).toString('utf8');
  return text.replaceAll('\0', '\uFFFD');
}

/** Reads a body to its end. Throws when it is longer than it may be, or breaks off. */
async function readWhole(body: AsyncIterable<Buffer>, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > bytesMax) throw new TooLongError(`The answer is longer than ${bytesMax} bytes.`);
  }
  return Buffer.concat(chunks).toString('utf8').replaceAll('\0', '\uFFFD');
}

/** The headers of an answer; what came several times is one text. */
const headersOf = (headers: IncomingHttpHeaders): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
  );

/** What kind of failure an error is. */
function noAnswerOf(error: unknown): NoAnswer {
  const { name, code, cause } = (error ?? {}) as Partial<Error> & { code?: string };
  if ([error, cause].some((each) => each instanceof RefusedAddressError)) return 'refused';
  if (error instanceof TooLongError) return 'tooLong';
  return name === 'TimeoutError' || /^UND_ERR_\w+_TIMEOUT$/.test(code ?? '') ? 'late' : 'lost';
}

/** Of an error, whatever was thrown, why there was no answer. */
export function faultOf(error: unknown, timeoutMs: number): string {
  const { code, message, cause } = (error ?? {}) as Partial<Error> & { code?: string };
  for (const each of [error, cause]) {
    const isPlain = each instanceof NameError || each instanceof TooLongError;
    if (isPlain || each instanceof RefusedAddressError) return each.message;
  }
  if (noAnswerOf(error) === 'late') return `There was no answer within ${timeoutMs / 1000} s.`;
  return `There was no answer: ${[code, message].filter(Boolean).join(', ')}`.slice(0, 500);
}

function statusFault(statusCode: number): string | null {
  if (statusCode >= 200 && statusCode < 300) return null;
  if (statusCode >= 300 && statusCode < 400) {
    return `The answer was a redirect (${statusCode}), which is not followed.`;
  }
  return `The answer was ${statusCode}.`;
}

/** Sends requests from this process. */
export function openRequestSender(settings: GuardSettings, names: Names): RequestSender {
  const { timeoutMs } = settings;
  const agent = guardedAgent(settings, names);
  return {
    async post({ url, headers, body, method = 'POST', wholeMax }) {
      const startedAt = new Date();
      const began = performance.now();
      const done = (rest: Omit<WebhookAnswer, 'isOk' | 'startedAt' | 'durationMs'>) => ({
        ...rest,
        isOk: rest.error === null,
        startedAt,
        durationMs: Math.round(performance.now() - began),
      });
      const limit = new AbortController();
      const end = (): void => limit.abort(new DOMException('late', 'TimeoutError'));
      let timer = setTimeout(end, timeoutMs);
      try {
        const { signal } = limit;
        const answer = await request(url, { method, dispatcher: agent, signal, headers, body });
        const { statusCode } = answer;
        const error = statusFault(statusCode);
        const content = answer.body as AsyncIterable<Buffer>;
        if (wholeMax !== undefined) {
          // The time of the request is that of its body, too: half an answer is none.
          const text = await readWhole(content, wholeMax);
          return done({ statusCode, error, answer: text, headers: headersOf(answer.headers) });
        }
        clearTimeout(timer);
        timer = setTimeout(end, bodyMsMax);
        return done({ statusCode, error, answer: await readBeginning(content) });
      } catch (error) {
        const fault = faultOf(error, timeoutMs);
        return done({ statusCode: null, error: fault, answer: null, noAnswer: noAnswerOf(error) });
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => agent.destroy(),
  };
}
