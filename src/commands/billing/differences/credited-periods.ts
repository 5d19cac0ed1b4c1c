import type { Knex } from 'knex';
import { groupBy } from '../../../kernel/group-by.js';
import { mapInPortions } from '../../../kernel/portions.js';
import { seededId } from '../../../kernel/id.js';
import { Decimal, ONE, roundAmount, sum, ZERO } from '../../../kernel/numbers/money.js';
import { dayBefore } from '../../../kernel/time/date.js';
import {
  readCreditedPeriods,
  type CreditedPeriod,
} from '../../../models/billing/adjustments/credited-period.js';
import { creditedType } from '../../../queries/billing/charge-differences.js';
import type { PeriodItem } from '../adjustments/bill-periods.js';
import type { DraftCharge } from '../invoice-draft.js';
import { rowOfCredited, type Differences } from './credited-before.js';

interface Facts {
  /** What adjustments bill now. */
  readonly periods: readonly PeriodItem[];
  /** The invoices that the run makes for other reasons than this. */
  readonly invoiceIds: ReadonlySet<string>;
  readonly accountIds: readonly string[];
  readonly seed: string;
}

/**
 * What late usage takes off minimums and commitments against what credit notes had given back of them:
 * each cent is given back once (spec/beyond.md R313, docs/decisions/0429).
 *
 * A minimum was topped up by 50, which a note has credited. 20 of usage come late: the minimum is 20 less,
 * which were credited before, so that the usage is owed.
 */
export async function findCreditedPeriods(
  db: Knex,
  tenantId: string,
  { periods, invoiceIds, accountIds, seed }: Facts,
): Promise<Differences> {
  const lowered = periods.filter(({ amount }) => amount.isNegative()).map(({ charge }) => charge);
  const families = await readCreditedPeriods(db, tenantId, {
    periods: [...new Set(lowered)].map(({ adjustment: { id, accountId }, start }) => ({
      adjustmentId: id,
      accountId,
      start,
    })),
    invoiceId: null,
    accountIds,
  });
  const keyOf = (adjustmentId: string, accountId: string, start: string): string =>
    `${adjustmentId}/${accountId}/${start}`;
  const byPeriod = groupBy(periods, ({ charge: { adjustment, start } }) =>
    keyOf(adjustment.id, adjustment.accountId, start),
  );
  const found = await mapInPortions(families, (family) => {
    const invoiceId = seededId(seed, `${family.accountId}${family.currency}Charge`);
    if (!invoiceIds.has(invoiceId)) return [];
    const own = byPeriod.get(keyOf(family.adjustmentId, family.accountId, family.start)) ?? [];
    return creditedParts(family, own).map(({ taxCode, amount }, index) => {
      const charge = chargeOf(family, invoiceId, index, taxCode, amount);
      return {
        charge,
        row: {
          ...rowOfCredited(charge),
          serviceId: null,
          adjustmentId: family.adjustmentId,
          adjustedFrom: family.start,
        },
      };
    });
  });
  const all = found.flat();
  return { charges: all.map(({ charge }) => charge), rows: all.map(({ row }) => row) };
}

interface Part {
  readonly taxCode: string | null;
  readonly amount: Decimal;
}

/** What notes had given back before of what is taken off, less what was billed of that, by tax code. */
function creditedParts(family: CreditedPeriod, now: readonly PeriodItem[]): Part[] {
  const before = family.before.map(({ taxCode, amount }) => ({
    taxCode,
    amount: new Decimal(amount),
  }));
  const down = now.filter(({ amount }) => amount.isNegative());
  const raised = sum(now.map(({ amount }) => Decimal.max(amount, ZERO)));
  const lowered = new Decimal(family.lowered).minus(sum(down.map(({ amount }) => amount)));
  // What grants have paid was no money that a note could give back.
  const noted = Decimal.max(new Decimal(family.noted).minus(family.notedPaid), ZERO);
  const charged = new Decimal(family.charged).minus(family.paid).plus(raised);
  const left = Decimal.max(charged.minus(noted), ZERO);
  const needed = Decimal.min(Decimal.max(lowered.minus(left), ZERO), noted);
  const amount = needed.minus(sum(before.map((part) => part.amount)));
  if (amount.isZero()) return [];
  const like = amount.isNegative()
    ? before
    : down.map((item) => ({ taxCode: item.taxCode, amount: item.amount.negated() }));
  return like.length === 0 ? [{ taxCode: null, amount }] : inProportion(amount, like);
}

/** An amount divided as others are; the last has what remains. */
function inProportion(amount: Decimal, like: readonly Part[]): Part[] {
  const whole = sum(like.map((part) => part.amount));
  let left = amount;
  return like.map((part, index) => {
    const isLast = index === like.length - 1;
    const own = isLast ? left : roundAmount(amount.times(part.amount).div(whole));
    left = left.minus(own);
    return { taxCode: part.taxCode, amount: own };
  });
}

/** The item that says so, on the invoice that takes something off the period. */
const chargeOf = (
  { accountId, currency, adjustmentId, start, end, invoiceNo, ...family }: CreditedPeriod,
  invoiceId: string,
  index: number,
  taxCode: string | null,
  amount: Decimal,
): DraftCharge => ({
  amount,
  discounted: ZERO,
  credited: ZERO,
  invoiceId,
  itemId: seededId(invoiceId, `${creditedType}/${adjustmentId}/${start}/${index}`),
  accountId,
  currency,
  usageType: 'Charge',
  serviceId: null,
  contractId: null,
  isOfOneContract: false,
  contractServiceId: null,
  dimensionId: null,
  description: `Credited before (correction of ${invoiceNo})`,
  // Minus one of what is taken off: an e-invoice knows no price below zero.
  volume: amount.isNegative() ? ONE.negated() : ONE,
  unit: null,
  rate: amount.abs(),
  proration: null,
  tiers: [],
  share: null,
  taxCode,
  chargeType: creditedType,
  priceMethod: null,
  firstDate: start,
  lastDate: dayBefore(end),
  transactions: 0,
  correctedInvoiceId: family.invoiceId,
});
