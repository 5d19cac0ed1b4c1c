import type { Knex } from 'knex';
import type { Scope } from '../../kernel/scope.js';
import { WebhookDelivery } from '../../models/webhooks/webhook-delivery.js';
import { Webhook, WebhookFailure } from '../../models/webhooks/webhook.js';

/** How an attempt went, as it is kept. */
export interface WebhookOutcome {
  readonly isOk: boolean;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly answer: string | null;
  readonly startedAt: Date;
  readonly durationMs: number;
}

/** Switches a webhook off, visibly; what waits for it is given up. */
export async function switchOff(
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
export async function findLastingFailure(
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
