import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { Decimal } from '../../../kernel/numbers/money.js';
import { RatedTransaction } from '../../../models/usage/rated-transaction.js';
import type * as schema from '../../../schemas/usage/usage-event.js';
import { findInvoicesOf } from '../../billing/invoice-parts.js';

type Charge = Static<typeof schema.ExplainedTransaction>;
type BilledBefore = NonNullable<Charge['billedBefore']>;

/**
 * Of charges that corrections have made and no invoice has: the last charge of the same account in
 * whose place each came that an invoice has, by the charge.
 */
export async function findBilledBefore(
  db: Knex,
  tenantId: string,
  eventId: string | null,
  charges: readonly Charge[],
): Promise<ReadonlyMap<string, BilledBefore>> {
  const found = new Map<string, BilledBefore>();
  const waiting = charges.filter((charge) => !charge.billed && charge.correctionId !== null);
  if (eventId === null || waiting.length === 0) return found;
  const all = (await RatedTransaction.allOfEvents(db, tenantId, [eventId])).get(eventId) ?? [];
  const accountIds = new Set(waiting.map(({ accountId }) => accountId));
  const former = all.filter((one) => one.reverses === null && accountIds.has(one.accountId));
  const invoices = await findInvoicesOf(
    db,
    tenantId,
    former.map((one) => ({ ...one, billed: true })),
  );
  for (const { id, accountId, usageType, amount } of waiting) {
    const before = former
      .slice(
        0,
        former.findIndex((one) => one.id === id),
      )
      .findLast(
        (one) => one.accountId === accountId && one.usageType === usageType && invoices.has(one.id),
      );
    const invoice = before && invoices.get(before.id);
    if (id === null || !invoice) continue;
    const billed = new Decimal(before.amount);
    found.set(id, { ...invoice, amount: billed, difference: new Decimal(amount).minus(billed) });
  }
  return found;
}
