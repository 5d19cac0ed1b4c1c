import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import { Agent, buildConnector, request } from 'undici';
import { bareHost, isPublic } from './addresses.js';
import { NameError, type Names } from './names.js';

export interface PosterSettings {
  /** Whether requests may go to private addresses, such as those of this machine. */
  readonly allowsPrivateAddresses: boolean;
  /** How long a request may take. */
  readonly timeoutMs: number;
}

/** A request as it is sent. */
export interface WebhookPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How a request went. */
export interface WebhookAnswer {
  readonly isOk: boolean;
  /** Null when there was no answer. */
  readonly statusCode: number | null;
  /** Why it failed; null when it did not. */
  readonly error: string | null;
  /** The first kilobytes of the body of the answer. */
  readonly answer: string | null;
  readonly startedAt: Date;
  readonly durationMs: number;
}

/** Sends requests, and never rejects: whatever goes wrong is an answer with its reason. */
export interface WebhookPoster {
  post(post: WebhookPost): Promise<WebhookAnswer>;
  close(): Promise<void>;
}

export class RefusedAddressError extends Error {}

export const refused = (address: string): RefusedAddressError =>
  new RefusedAddressError(`The address ${address} is not public.`);

/** Bytes of an answer that are kept, and of its headers that are read. */
const answerBytesMax = 4_096;
const headerBytesMax = 16_384;
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

/** Of an error, whatever was thrown, why there was no answer. */
export function faultOf(error: unknown, timeoutMs: number): string {
  const { name, code, message, cause } = (error ?? {}) as Partial<Error> & { code?: string };
  for (const each of [error, cause]) {
    if (each instanceof RefusedAddressError || each instanceof NameError) return each.message;
  }
  if (name === 'TimeoutError' || /^UND_ERR_\w+_TIMEOUT$/.test(code ?? '')) {
    return `There was no answer within ${timeoutMs / 1000} s.`;
  }
  return `There was no answer: ${[code, message].filter(Boolean).join(', ')}`.slice(0, 500);
}

function statusFault(statusCode: number): string | null {
  if (statusCode >= 200 && statusCode < 300) return null;
  if (statusCode >= 300 && statusCode < 400) {
    return `The answer was a redirect (${statusCode}), which is not followed.`;
  }
  return `The answer was ${statusCode}.`;
}

/** The addresses of a name that a connection may go to. */
async function addressesOf(
  host: string,
  names: Names,
  { allowsPrivateAddresses }: PosterSettings,
): Promise<LookupAddress[]> {
  const found = await names(host);
  const allowed = allowsPrivateAddresses ? found : found.filter(isPublic);
  if (allowed.length === 0) throw refused(`${found[0] ?? 'nothing'} of ${host}`);
  return allowed.map((address) => ({ address, family: isIP(address) }));
}

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** Looks a name up for a connection: errors are passed to the callback, never thrown. */
function answerLookup(
  found: Promise<LookupAddress[]>,
  { all }: LookupOptions,
  callback: LookupCallback,
): void {
  found
    .then(
      (addresses) => {
        const [first] = addresses;
        if (all === true) callback(null, addresses);
        else callback(null, first?.address ?? '', first?.family ?? 4);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), []),
    )
    // What the connection throws at an answer has nowhere to go: its own time limit ends it.
    .catch(() => undefined);
}

/**
 * Connects to public addresses only, unless the instance allows all. A literal address skips the
 * lookup, and a name may resolve to another address each time: so both are checked when the
 * connection is made.
 */
function guardedAgent(settings: PosterSettings, names: Names): Agent {
  const { allowsPrivateAddresses, timeoutMs } = settings;
  const connect = buildConnector({
    timeout: timeoutMs,
    lookup: (host, options, callback) =>
      answerLookup(addressesOf(host, names, settings), options, callback),
  });
  return new Agent({
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxHeaderSize: headerBytesMax,
    connect(options, callback) {
      const host = bareHost(options.hostname);
      const isHidden = !allowsPrivateAddresses && isIP(host) !== 0 && !isPublic(host);
      if (isHidden) callback(refused(host), null);
      else connect(options, callback);
    },
  });
}

/** Sends requests from this process. */
export function openPoster(settings: PosterSettings, names: Names): WebhookPoster {
  const { timeoutMs } = settings;
  const agent = guardedAgent(settings, names);
  return {
    async post({ url, headers, body }) {
      const startedAt = new Date();
      const began = performance.now();
      const done = (rest: Pick<WebhookAnswer, 'statusCode' | 'error' | 'answer'>) => ({
        ...rest,
        isOk: rest.error === null,
        startedAt,
        durationMs: Math.round(performance.now() - began),
      });
      const limit = new AbortController();
      const end = (): void => limit.abort(new DOMException('late', 'TimeoutError'));
      let timer = setTimeout(end, timeoutMs);
      try {
        const answer = await request(url, {
          method: 'POST',
          dispatcher: agent,
          signal: limit.signal,
          headers,
          body,
        });
        const { statusCode } = answer;
        clearTimeout(timer);
        timer = setTimeout(end, bodyMsMax);
        const text = await readBeginning(answer.body as AsyncIterable<Buffer>);
        return done({ statusCode, error: statusFault(statusCode), answer: text });
      } catch (error) {
        return done({ statusCode: null, error: faultOf(error, timeoutMs), answer: null });
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => agent.destroy(),
  };
}
