import { ZERO, type Decimal } from '../../../kernel/numbers/money.js';
import type { UsageGroup } from '../../../models/billing/usage-items.js';

/** The accounts of which something is corrected: nothing may be billed to them besides. */
export const correctedAccounts = (found: readonly UsageGroup[]): readonly string[] => [
  ...new Set(
    found.flatMap(({ accountId, correctedInvoiceId }) =>
      correctedInvoiceId === null ? [] : [accountId],
    ),
  ),
];

/**
 * Usage without differences that owe the account something while there is nothing else to bill: they
 * wait for an invoice that they lower (docs/decisions/0373), unless the account has `ended`: nothing will
 * charge it any more (0430). `others` are invoices that have something besides usage; `waiting` those
 * that are not made.
 */
export function withoutWaiting(
  found: readonly UsageGroup[],
  others: ReadonlySet<string>,
  ended: ReadonlySet<string>,
): { readonly usage: readonly UsageGroup[]; readonly waiting: readonly string[] } {
  const sums = new Map<string, Decimal>();
  for (const { invoiceId, usageType, correctedInvoiceId, amount, discounted } of found) {
    if (correctedInvoiceId === null || usageType === 'Payout') continue;
    sums.set(invoiceId, (sums.get(invoiceId) ?? ZERO).plus(amount).minus(discounted));
  }
  for (const { invoiceId, accountId, correctedInvoiceId } of found) {
    if (correctedInvoiceId === null || ended.has(accountId)) sums.delete(invoiceId);
  }
  const waiting = new Set(
    [...sums].flatMap(([id, sum]) => (sum.greaterThan(0) || others.has(id) ? [] : [id])),
  );
  return { usage: found.filter((group) => !waiting.has(group.invoiceId)), waiting: [...waiting] };
}
