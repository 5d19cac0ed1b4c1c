import { Decimal, ZERO } from '../../../kernel/numbers/money.js';
import type { UsageGroup } from '../../../models/billing/usage-items.js';

/** What corrections of an invoice come to, and no run bills yet. */
export interface WaitingDifference {
  readonly correctedInvoiceId: string;
  readonly currency: string;
  /** Without tax. */
  readonly amount: Decimal;
}

/** What waits, by the invoice that it corrects; what comes to nothing is owed to nobody. */
function byCorrectedInvoice(groups: readonly UsageGroup[]): readonly WaitingDifference[] {
  const owed = new Map<string, WaitingDifference>();
  for (const { correctedInvoiceId, currency, amount, discounted, credited } of groups) {
    if (correctedInvoiceId === null) continue;
    const before = owed.get(correctedInvoiceId)?.amount ?? ZERO;
    const own = new Decimal(amount).minus(discounted).minus(credited);
    owed.set(correctedInvoiceId, { correctedInvoiceId, currency, amount: before.plus(own) });
  }
  return [...owed.values()].filter(({ amount }) => !amount.isZero());
}

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
 * that are not made, `owed` what they would come to.
 */
export function withoutWaiting(
  found: readonly UsageGroup[],
  others: ReadonlySet<string>,
  ended: ReadonlySet<string>,
): {
  readonly usage: readonly UsageGroup[];
  readonly waiting: readonly string[];
  readonly owed: readonly WaitingDifference[];
} {
  const sums = new Map<string, Decimal>();
  for (const { invoiceId, usageType, correctedInvoiceId, amount, discounted } of found) {
    if (correctedInvoiceId === null || usageType === 'Payout') continue;
    sums.set(invoiceId, (sums.get(invoiceId) ?? ZERO).plus(amount).minus(discounted));
  }
  for (const { invoiceId, accountId, correctedInvoiceId } of found) {
    // Nobody is owed a difference of nothing, whatever has ended.
    const isOwed = ended.has(accountId) && sums.get(invoiceId)?.isZero() === false;
    if (correctedInvoiceId === null || isOwed) sums.delete(invoiceId);
  }
  const waiting = new Set(
    [...sums].flatMap(([id, sum]) => (sum.greaterThan(0) || others.has(id) ? [] : [id])),
  );
  return {
    usage: found.filter(({ invoiceId }) => !waiting.has(invoiceId)),
    waiting: [...waiting],
    owed: byCorrectedInvoice(found.filter(({ invoiceId }) => waiting.has(invoiceId))),
  };
}
