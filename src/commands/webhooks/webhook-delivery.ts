import type { Knex } from 'knex';
import type { Scope } from '../../kernel/scope.js';
import type { WebhookAttemptCall } from '../../messages/webhook.js';
import { WebhookAttempt, WebhookDelivery } from '../../models/webhooks/webhook-delivery.js';
import { Webhook, WebhookFailure } from '../../models/webhooks/webhook.js';

/** The request that an attempt has to send. */
export interface WebhookLoad {
  readonly url: string;
  readonly body: string;
  readonly sealedSecrets: readonly string[];
}

/** How an attempt went, as it is kept. */
export interface WebhookOutcome {
  readonly isOk: boolean;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly answer: string | null;
  readonly startedAt: Date;
  readonly durationMs: number;
}

/** The begin of an attempt: the request to send, or the reason to send none. */
export type BegunAttempt =
  | { readonly load: WebhookLoad }
  /** The delivery has ended, or another round of it has begun. */
  | { readonly end: 'done' }
  /** This attempt was made before its worker was killed, and the next one is due. */
  | { readonly end: 'retry' };

/** Whether this round of the delivery is still open. */
const isOpen = (delivery: Pick<WebhookDelivery, 'round' | 'status'>, round: number): boolean =>
  delivery.round === round && (delivery.status === 'sending' || delivery.status === 'retrying');

/** Reads what an attempt has to send. */
export async function beginWebhookAttempt(
  { db, tenantId, realNow }: Scope,
  { deliveryId, round, number }: WebhookAttemptCall,
): Promise<BegunAttempt> {
  const delivery = await WebhookDelivery.load(db.read, tenantId, deliveryId, realNow());
  if (!delivery || !isOpen(delivery, round)) return { end: 'done' };
  if (delivery.attempts >= number) return { end: 'retry' };
  const { url, body, sealedSecrets } = delivery;
  if (delivery.isActive !== true || url === null || body === null) {
    await db.transaction(async (trx) => {
      const given = await WebhookDelivery.query(trx)
        .forTenant(tenantId)
        .findOne({ id: deliveryId });
      await given?.end(trx, 'failed', realNow(), 'The webhook was switched off.');
    });
    return { end: 'done' };
  }
  return { load: { url, body, sealedSecrets } };
}

/** Switches a webhook off, visibly; what waits for it is given up. */
async function switchOff(
  trx: Knex.Transaction,
  { tenantId, realNow }: Scope,
  webhookId: string,
  reason: string,
): Promise<void> {
  const switched = await Webhook.query(trx)
    .forTenant(tenantId)
    .where({ id: webhookId, active: true })
    .patch({ active: false, disabledReason: reason, disabledAt: realNow(), updatedAt: realNow() });
  if (switched > 0) await WebhookDelivery.giveUp(trx, tenantId, webhookId, reason, realNow());
}

const goneStatus = 410;

/** The reason to switch a webhook off after a failed attempt; undefined to leave it on. */
async function findLastingFailure(
  trx: Knex.Transaction,
  { tenantId }: Scope,
  webhookId: string,
  { statusCode, startedAt, error }: WebhookOutcome,
  failureMsMax: number,
): Promise<string | undefined> {
  const since = await WebhookFailure.note(trx, tenantId, webhookId, startedAt);
  if (statusCode === goneStatus) return 'The receiver answered 410 Gone: it wants no more events.';
  if (startedAt.getTime() - since.getTime() < failureMsMax) return undefined;
  return `Nothing has reached it since ${since.toISOString()}. The last attempt: ${error ?? ''}`;
}

/**
 * Records the outcome of an attempt, and what follows: the end of the delivery, the next attempt,
 * or switching the webhook off. Returns whether the workflow is done.
 */
export async function endWebhookAttempt(
  scope: Scope,
  { deliveryId, round, number, retryInMs }: WebhookAttemptCall,
  outcome: WebhookOutcome,
  failureMsMax: number,
): Promise<'done' | 'retry'> {
  const { tenantId } = scope;
  return scope.db.transaction(async (trx) => {
    const delivery = await WebhookDelivery.query(trx)
      .forTenant(tenantId)
      .findOne({ id: deliveryId })
      .forUpdate();
    if (!delivery) return 'done';
    const { isOk, ...kept } = outcome;
    await WebhookAttempt.keep(trx, tenantId, { deliveryId, round, number, ...kept });
    if (!isOpen(delivery, round)) return 'done';
    const { webhookId } = delivery;
    if (isOk) {
      await delivery.end(trx, 'delivered', scope.realNow(), null, number);
      await WebhookFailure.clear(trx, tenantId, webhookId);
      return 'done';
    }
    const lasting = await findLastingFailure(trx, scope, webhookId, outcome, failureMsMax);
    if (lasting !== undefined || retryInMs === null) {
      const reason = lasting ?? `No attempt has succeeded. The last one: ${outcome.error ?? ''}`;
      await delivery.end(trx, 'failed', scope.realNow(), reason, number);
      if (lasting !== undefined) await switchOff(trx, scope, webhookId, lasting);
      return 'done';
    }
    await delivery.waitForRetry(trx, new Date(scope.realNow().getTime() + retryInMs), number);
    return 'retry';
  });
}
