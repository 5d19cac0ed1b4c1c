import { lookup as lookupAddresses, type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector, request } from 'undici';
import { signWebhook } from './signature.js';

export interface WebhookSettings {
  /** Whether deliveries may go to private addresses, such as those of this machine. */
  readonly allowsPrivateAddresses: boolean;
  /** How long an attempt may take. */
  readonly timeoutMs: number;
  /** Before each attempt: how long after the one before it. */
  readonly delaysMs: readonly number[];
  /** After how long without success a webhook is switched off. */
  readonly failureMsMax: number;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** The schedule of OAUTH.md, "Webhook signing". */
export const webhookDefaults: Omit<WebhookSettings, 'allowsPrivateAddresses'> = {
  timeoutMs: 15_000,
  delaysMs: [
    ...[0, 5_000, 5 * minuteMs, 30 * minuteMs],
    ...[2 * hourMs, 5 * hourMs, 10 * hourMs, 10 * hourMs],
  ],
  failureMsMax: 5 * 24 * hourMs,
};

/** A delivery as it is sent. */
export interface WebhookMessage {
  readonly url: string;
  readonly id: string;
  readonly body: string;
  /** Valid ones, the newest first. */
  readonly secrets: readonly string[];
}

/** How an attempt went. */
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

type LookupAll = (
  host: string,
  options: LookupOptions & { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Sends webhooks, and says where it would not send them. */
export interface WebhookSender {
  /** Why no delivery may go to this address; undefined when one may. */
  findRefusal(url: string): Promise<string | undefined>;
  send(message: WebhookMessage): Promise<WebhookAnswer>;
  close(): Promise<void>;
}

class RefusedAddressError extends Error {}

const refused = (address: string): RefusedAddressError =>
  new RefusedAddressError(`The address ${address} is not public.`);

/** Whether an address is one of the public Internet: an IPv4 address in IPv6 counts as itself. */
const isPublic = (address: string): boolean =>
  ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast';

/** The host of an address without the brackets of IPv6; numbers in any notation are addresses. */
const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/g, '');

/** Bytes of an answer that are kept. */
const answerBytesMax = 4_096;

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

function faultOf(error: unknown, timeoutMs: number): string {
  const { name, code, message, cause } = error as Error & { code?: string };
  if (error instanceof RefusedAddressError) return message;
  if (cause instanceof RefusedAddressError) return cause.message;
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

/**
 * Connects to public addresses only, unless the instance allows all. A literal address never reaches
 * the lookup, and a name may have another address at every lookup: so both are looked at when the
 * connection is made.
 */
function guardedAgent(settings: WebhookSettings, lookupAll: LookupAll): Agent {
  const { allowsPrivateAddresses, timeoutMs } = settings;
  const plain = { timeout: timeoutMs };
  const limits = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
  if (allowsPrivateAddresses) return new Agent({ ...limits, connect: plain });
  const connect = buildConnector({
    ...plain,
    lookup(host, options, callback) {
      lookupAll(host, { ...options, all: true }, (error, found) => {
        const addresses = found.filter(({ address }) => isPublic(address));
        const [first] = addresses;
        if (error) callback(error, []);
        else if (!first) callback(refused(`${found[0]?.address ?? 'nothing'} of ${host}`), []);
        else if (options.all === true) callback(null, addresses);
        else callback(null, first.address, first.family);
      });
    },
  });
  return new Agent({
    ...limits,
    connect(options, callback) {
      const host = options.hostname.replace(/^\[|\]$/g, '');
      if (isIP(host) !== 0 && !isPublic(host)) callback(refused(host), null);
      else connect(options, callback);
    },
  });
}

/** The sender of this process; tests give it names with addresses of their own. */
export function openWebhookSender(
  settings: WebhookSettings,
  lookupAll: LookupAll = lookupAddresses,
): WebhookSender {
  const { allowsPrivateAddresses, timeoutMs } = settings;
  const agent = guardedAgent(settings, lookupAll);
  return {
    async findRefusal(url) {
      if (allowsPrivateAddresses) return undefined;
      const host = hostOf(url);
      const addresses =
        isIP(host) === 0
          ? await new Promise<string[]>((resolve) => {
              // A name that is not known yet may be when the first event comes.
              lookupAll(host, { all: true }, (error, found) =>
                resolve(error ? [] : found.map(({ address }) => address)),
              );
            })
          : [host];
      const hidden = addresses.find((address) => !isPublic(address));
      return hidden === undefined ? undefined : refused(hidden).message;
    },
    async send({ url, id, body, secrets }) {
      const startedAt = new Date();
      const began = performance.now();
      const timestamp = Math.floor(startedAt.getTime() / 1000);
      const done = (rest: Pick<WebhookAnswer, 'statusCode' | 'error' | 'answer'>) => ({
        ...{ isOk: rest.error === null, startedAt, ...rest },
        durationMs: Math.round(performance.now() - began),
      });
      try {
        const answer = await request(url, {
          method: 'POST',
          dispatcher: agent,
          signal: AbortSignal.timeout(timeoutMs),
          headers: {
            'content-type': 'application/json',
            'user-agent': 'Durabill-Webhooks/1',
            'webhook-id': id,
            'webhook-timestamp': String(timestamp),
            'webhook-signature': signWebhook(secrets, { id, timestamp, body }),
          },
          body,
        });
        const { statusCode } = answer;
        const text = await readBeginning(answer.body as AsyncIterable<Buffer>);
        return done({ statusCode, error: statusFault(statusCode), answer: text });
      } catch (error) {
        return done({ statusCode: null, error: faultOf(error, timeoutMs), answer: null });
      }
    },
    close: () => agent.destroy(),
  };
}
