import type { Knex } from 'knex';
import { Portions } from '../../../kernel/portions.js';
import { RatedTransaction } from '../../../models/usage/rated-transaction.js';
import { UsageEvent } from '../../../models/usage/usage-event.js';
import {
  findAccountNumbers,
  presentRatedTransaction,
} from '../../../queries/usage/rated-transaction.js';
import { presentUsageSummary } from '../../../queries/usage/usage-event.js';
import {
  recordWebhookEvents,
  type WebhookEventInput,
  type WebhookOrigin,
} from '../../webhooks/webhook-event.js';

interface CorrectedEvents {
  /** Null: a rejected event was dismissed. */
  readonly correctionId: string | null;
  readonly reason: string;
  readonly canceled: readonly string[];
  /** Events that have other charges. */
  readonly corrected: readonly string[];
}

/**
 * Records webhook events for events that were canceled, and for those that have other charges: each as
 * the list of usage events shows it, with the charges that stand, and the correction. Messages are read by
 * weight (docs/decisions/0442).
 */
export function recordCorrectedEvents(
  trx: Knex.Transaction,
  from: WebhookOrigin,
  { correctionId, reason, canceled, corrected }: CorrectedEvents,
): Promise<void> {
  const { tenantId } = from;
  return recordWebhookEvents(trx, from, ['usage.canceled', 'usage.corrected'], async (isWanted) => {
    const ids = [
      ...(isWanted('usage.canceled') ? canceled : []),
      ...(isWanted('usage.corrected') ? corrected : []),
    ].sort();
    const gone = new Set(canceled);
    const charges = await RatedTransaction.ofEvents(trx, tenantId, ids);
    const accountIds = [...charges.values()].flatMap((of) => of.map((one) => one.accountId));
    const numbers = await findAccountNumbers(trx, tenantId, accountIds);
    const told: WebhookEventInput[] = [];
    const portions = new Portions();
    for await (const events of UsageEvent.readByWeight(trx, tenantId, ids)) {
      for (const event of events) {
        told.push({
          event: gone.has(event.id) ? 'usage.canceled' : 'usage.corrected',
          recordId: event.id,
          data: {
            eventId: event.id,
            correctionId,
            correctionReason: reason,
            ...presentUsageSummary(event),
            ratedTransactions: (charges.get(event.id) ?? []).map((charge) =>
              presentRatedTransaction(charge, numbers),
            ),
          },
        });
        if (portions.isOver) await portions.rest();
      }
    }
    return told;
  });
}
