import {
  beginWebhookAttempt,
  endWebhookAttempt,
} from '../../commands/webhooks/webhook-delivery.js';
import type { Scope } from '../../kernel/scope.js';
import type { WebhookAttemptCall, WebhookAttemptEnd } from '../../messages/webhook.js';
import { WebhookDelivery, type ClaimedDelivery } from '../../models/webhooks/webhook-delivery.js';
import type { Cell } from '../../platform/database/cell.js';
import type { Platform } from '../../process/platform.js';
import { isTenantSuspended } from '../../access/tenants.js';
import type { WebhookAnswer } from '../../adapters/webhooks/webhook-sender.js';
import { workflowScope } from '../scope.js';

/** Maximum attempts of this process under way, to one webhook and of one tenant. */
const perWebhookMax = 8;
const perTenantMax = 32;

/** A semaphore by key: a receiver that hangs uses no more than its own slots. */
class Slots {
  readonly #taken = new Map<string, number>();

  /** Takes one slot of each key that has room; undefined when one has none. */
  take(limits: Readonly<Record<string, number>>): (() => void) | undefined {
    const keys = Object.keys(limits);
    const isFull = keys.some((key) => (this.#taken.get(key) ?? 0) >= (limits[key] ?? 0));
    if (isFull) return undefined;
    for (const key of keys) this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1);
    return () => {
      for (const key of keys) {
        const rest = (this.#taken.get(key) ?? 1) - 1;
        if (rest === 0) this.#taken.delete(key);
        else this.#taken.set(key, rest);
      }
    };
  }
}

/** Called when a delivery has ended, since another one of the same record may wait for it. */
export type OnDelivered = () => void;

const notOpened = (startedAt: Date): WebhookAnswer => ({
  isOk: false,
  statusCode: null,
  answer: null,
  startedAt,
  durationMs: 0,
  error: 'The secret was sealed with another SECRET_KEY: give the webhook a new one.',
});

/**
 * Sends a delivery; a secret that cannot be opened fails the attempt, and its owner can replace it.
 */
async function sendAttempt(
  { secrets, webhooks, now }: Platform,
  id: string,
  load: { readonly url: string; readonly body: string; readonly sealedSecrets: readonly string[] },
): Promise<WebhookAnswer> {
  const { url, body, sealedSecrets } = load;
  let opened: string[];
  try {
    opened = sealedSecrets.map((sealed) => secrets.open(sealed));
  } catch {
    return notOpened(now());
  }
  return webhooks.send({ url, id, body, secrets: opened });
}

/** The outcome for metrics: the class of the receiver's status, or that it did not answer. */
const outcomeOf = ({ isOk, statusCode }: WebhookAnswer): string =>
  isOk ? 'delivered' : statusCode === null ? 'no_answer' : `${Math.floor(statusCode / 100)}xx`;

export function webhookActivities(platform: Platform, onDelivered: OnDelivered) {
  const slots = new Slots();
  const { metrics } = platform;
  const attempt = async (scope: Scope, call: WebhookAttemptCall): Promise<WebhookAttemptEnd> => {
    // The deliveries of a suspended tenant wait until it is resumed.
    if (await isTenantSuspended(platform.database.platform, scope.tenantId)) return 'busy';
    const begun = await beginWebhookAttempt(scope, call);
    if ('end' in begun) return begun.end;
    const answer = await sendAttempt(platform, call.deliveryId, begun.load);
    metrics.webhookAttempts.inc({ outcome: outcomeOf(answer) });
    metrics.webhookSeconds.observe(answer.durationMs / 1000);
    return endWebhookAttempt(scope, call, answer, platform.webhookSettings.failureMsMax);
  };
  return {
    /** Makes one attempt to deliver, and keeps how it went. */
    async sendWebhook(call: WebhookAttemptCall): Promise<WebhookAttemptEnd> {
      const { tenantId, webhookId } = call;
      const free = slots.take({ [webhookId]: perWebhookMax, [`/${tenantId}`]: perTenantMax });
      if (!free) return 'busy';
      try {
        return await attempt(await workflowScope(platform, tenantId, 'webhook'), call);
      } finally {
        free();
        onDelivered();
      }
    },
  };
}

/** Deliveries claimed at once. */
const claimsMax = 200;
/** First attempts that are under way in all processes. */
const shares = { perWebhook: 16, perFailing: 2, perTenant: perTenantMax, limit: claimsMax };

/** Claims waiting deliveries of all tenants of a cell. */
export const claimDeliveries = ({ platform }: Cell): Promise<readonly ClaimedDelivery[]> =>
  WebhookDelivery.claim(platform, shares);

/** Claims deliveries again whose workflows were lost. */
export const reclaimDeliveries = ({ platform }: Cell): Promise<readonly ClaimedDelivery[]> =>
  WebhookDelivery.reclaim(platform, claimsMax);

/** Schedules a reclaim of deliveries soon. */
export const watchDeliveriesSoon = ({ platform }: Cell, ids: readonly string[]): Promise<void> =>
  WebhookDelivery.watchSoon(platform, ids);
