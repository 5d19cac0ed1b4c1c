import type { Knex } from 'knex';
import { mapInPortions } from '../../kernel/portions.js';
import { RatedTransaction } from '../../models/usage/rated-transaction.js';
import { UsageEvent } from '../../models/usage/usage-event.js';
import {
  findAccountNumbers,
  presentRatedTransaction,
} from '../../queries/usage/rated-transaction.js';
import { presentUsageSummary } from '../../queries/usage/usage-event.js';
import { recordWebhookEvents, type WebhookOrigin } from '../webhooks/webhook-event.js';

/** What became of events in a transaction, by their ids. */
interface UsageOutcomes {
  readonly rated: readonly string[];
  readonly rejected: readonly string[];
  /** The charges that were written. */
  readonly transactions: readonly string[];
}

/** The charges as the API shows them, by the id of their event. */
async function findCharges(trx: Knex.Transaction, tenantId: string, ids: readonly string[]) {
  const transactions = await RatedTransaction.query(trx)
    .forTenant(tenantId)
    .whereRaw('id = any(?::uuid[])', [[...ids]])
    .orderBy('id');
  await RatedTransaction.readDimensions(trx, tenantId, transactions);
  const accountIds = transactions.map(({ accountId }) => accountId);
  const numbers = await findAccountNumbers(trx, tenantId, accountIds);
  const charges = new Map<string, object[]>();
  for (const transaction of transactions) {
    const ofEvent = charges.get(transaction.usageEventId) ?? [];
    charges.set(transaction.usageEventId, ofEvent);
    ofEvent.push(presentRatedTransaction(transaction, numbers));
  }
  return charges;
}

/**
 * Records webhook events for rated or rejected events: each as the list of usage events shows it,
 * with its rated transactions (docs/decisions/0090).
 */
export function recordUsageOutcomes(
  trx: Knex.Transaction,
  from: WebhookOrigin,
  { rated, rejected, transactions }: UsageOutcomes,
): Promise<void> {
  const { tenantId } = from;
  return recordWebhookEvents(trx, from, ['usage.rated', 'usage.rejected'], async (isWanted) => {
    const isRatedWanted = isWanted('usage.rated');
    const ids = [...(isRatedWanted ? rated : []), ...(isWanted('usage.rejected') ? rejected : [])];
    const events = await UsageEvent.withText(UsageEvent.query(trx).forTenant(tenantId))
      .whereRaw('id = any(?::uuid[])', [ids])
      .orderBy('id');
    const charges = isRatedWanted ? await findCharges(trx, tenantId, transactions) : new Map();
    return mapInPortions(events, (event) => ({
      event: event.status === 'rated' ? 'usage.rated' : 'usage.rejected',
      recordId: event.id,
      data: {
        ...presentUsageSummary(event),
        ratedTransactions: (charges.get(event.id) as object[] | undefined) ?? [],
      },
    }));
  });
}
