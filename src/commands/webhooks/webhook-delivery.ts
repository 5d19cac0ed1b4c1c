import type { Scope } from '../../kernel/scope.js';
import type { WebhookAttemptCall } from '../../messages/webhook.js';
import { WebhookAttempt, WebhookDelivery } from '../../models/webhooks/webhook-delivery.js';
import { WebhookFailure } from '../../models/webhooks/webhook.js';
import { findLastingFailure, switchOff, type WebhookOutcome } from './switch-off-webhook.js';

/** The request that an attempt has to send. */
export interface WebhookLoad {
  readonly url: string;
  readonly body: string;
  readonly sealedSecrets: readonly string[];
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
