import { isIP } from 'node:net';
import { webhookSchedule } from '../../messages/webhook-retries.js';
import { refused } from '../outgoing/guarded-agent.js';
import { hostOf, isPublic } from '../outgoing/public-address.js';
import { openNames, type Names } from '../outgoing/look-up-names.js';
import {
  openRequestSender,
  type WebhookAnswer,
  type OutgoingRequest,
  type RequestSender,
} from '../outgoing/request-sender.js';
import { signWebhook } from './webhook-signature.js';

export type { WebhookAnswer };

export interface WebhookSettings {
  /** Whether deliveries may go to private addresses, such as those of this machine. */
  readonly allowsPrivateAddresses: boolean;
  /** How long an attempt may take. */
  readonly timeoutMs: number;
  /** How long looking up a name may take. */
  readonly namesTimeoutMs: number;
  /** Who is asked for names; undefined: the name servers of the system. */
  readonly nameServers?: readonly string[] | undefined;
  /** Before each attempt: how long after the one before it (`messages/webhook-retries.ts`). */
  readonly delaysMs: readonly number[];
  /** After how long without success a webhook is switched off. */
  readonly failureMsMax: number;
}

export const webhookDefaults: Omit<WebhookSettings, 'allowsPrivateAddresses'> = {
  timeoutMs: 15_000,
  namesTimeoutMs: 5_000,
  ...webhookSchedule,
};

/** A delivery as it is sent. */
export interface WebhookMessage {
  readonly url: string;
  readonly id: string;
  readonly body: string;
  /** Valid ones, the newest first. */
  readonly secrets: readonly string[];
}

/** Sends webhooks, and says where it would not send them. */
export interface WebhookSender {
  /** Why no delivery may go to this address; undefined when one may. */
  findRefusal(url: string): Promise<string | undefined>;
  /** Never rejects: an attempt that fails is an answer with its reason. */
  send(message: WebhookMessage): Promise<WebhookAnswer>;
  /** Sends a request of a tenant's workflow, unsigned, through the same guard; never rejects. */
  request(post: OutgoingRequest): Promise<WebhookAnswer>;
  close(): Promise<void>;
}

interface SenderParts {
  readonly names?: Names;
  /** Who sends the requests: this process, unless another one is asked to. */
  readonly requestSender?: RequestSender;
}

/** The names of these settings. */
export const namesOf = ({ namesTimeoutMs, nameServers }: WebhookSettings): Names =>
  openNames({ timeoutMs: namesTimeoutMs, servers: nameServers });

/** Signs deliveries and hands them to a sender of requests. */
export function openWebhookSender(
  settings: WebhookSettings,
  {
    names = namesOf(settings),
    requestSender = openRequestSender(settings, names),
  }: SenderParts = {},
): WebhookSender {
  return {
    async findRefusal(url) {
      if (settings.allowsPrivateAddresses) return undefined;
      const host = hostOf(url);
      // A name that is not known yet may be when the first event comes.
      const addresses = isIP(host) === 0 ? await names(host).catch(() => []) : [host];
      const hidden = addresses.find((address) => !isPublic(address));
      return hidden === undefined ? undefined : refused(hidden).message;
    },
    send({ url, id, body, secrets }) {
      const timestamp = Math.floor(Date.now() / 1000);
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'Durabill-Webhooks/1',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signWebhook(secrets, { id, timestamp, body }),
      };
      return requestSender.post({ url, headers, body });
    },
    request: (post) => requestSender.post(post),
    close: () => requestSender.close(),
  };
}
