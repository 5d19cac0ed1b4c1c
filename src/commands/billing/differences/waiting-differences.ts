import { ZERO, type Decimal } from '../../../kernel/numbers/money.js';
import type { UsageGroup } from '../../../models/billing/usage-items.js';

/**
 * Usage without differences that owe the account something while there is nothing else to bill: they
 * wait for an invoice that they lower (docs/decisions/0373). `others` are invoices that have something
 * besides usage; `waiting` those that are not made.
 */
export function withoutWaiting(
  found: readonly UsageGroup[],
  others: ReadonlySet<string>,
): { readonly usage: readonly UsageGroup[]; readonly waiting: readonly string[] } {
  const sums = new Map<string, Decimal>();
  for (const { invoiceId, usageType, correctedInvoiceId, amount, discounted } of found) {
    if (correctedInvoiceId === null || usageType === 'Payout') continue;
    sums.set(invoiceId, (sums.get(invoiceId) ?? ZERO).plus(amount).minus(discounted));
  }
  for (const { invoiceId, correctedInvoiceId } of found) {
    if (correctedInvoiceId === null) sums.delete(invoiceId);
  }
  const waiting = new Set(
    [...sums].flatMap(([id, sum]) => (sum.greaterThan(0) || others.has(id) ? [] : [id])),
  );
  return { usage: found.filter((group) => !waiting.has(group.invoiceId)), waiting: [...waiting] };
}
