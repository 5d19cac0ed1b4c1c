import type { Knex } from 'knex';
import { groupBy } from '../../../kernel/group-by.js';
import { eachInPortions } from '../../../kernel/portions.js';
import { seededId } from '../../../kernel/id.js';
import { Decimal, ONE, roundAmount, ZERO } from '../../../kernel/numbers/money.js';
import {
  BilledDifference,
  familyKey,
  nothingBack,
  plusBack,
  type BilledDifferenceRow,
  type FamilyDifferences,
  type GivenBack,
  type ItemFamily,
} from '../../../models/billing/billed-difference.js';
import type { UsageGroup } from '../../../models/billing/usage-items.js';
import { creditedType } from '../../../queries/billing/charge-differences.js';
import type { PeriodCharge } from '../adjustments/period-charges.js';
import type { DraftCharge } from '../invoice-draft.js';

/** What a run bills of corrections, and what of them notes had credited before. */
export interface Differences {
  readonly charges: readonly DraftCharge[];
  readonly rows: readonly BilledDifferenceRow[];
}

interface Facts {
  /** What is billed: differences of usage name the invoice that they correct. */
  readonly usage: readonly UsageGroup[];
  readonly periods: readonly PeriodCharge[];
  /** The invoices that the run makes for other reasons than this. */
  readonly invoiceIds: ReadonlySet<string>;
  readonly accountIds: readonly string[];
  readonly seed: string;
}

/**
 * Differences of corrected usage against what credit notes had given back of the same items: each cent is
 * given back once (spec/beyond.md R313, docs/decisions/0428).
 *
 * Of an item of 100 a note has credited 75; 40 of it are canceled. 25 were left, so 15 of the 40 were
 * credited before, and are an item of their own.
 */
export async function findDifferences(
  db: Knex,
  tenantId: string,
  facts: Facts,
): Promise<Differences> {
  const { usage, accountIds } = facts;
  const found = usage.filter(
    ({ correctedInvoiceId, usageType }) => correctedInvoiceId !== null && usageType === 'Charge',
  );
  const invoiceIds = [...new Set(found.map((group) => group.correctedInvoiceId ?? ''))];
  const families = await BilledDifference.families(db, tenantId, { invoiceIds, accountIds });
  const raised = raisedPeriods(facts.periods);
  const rows = found.map((group) => rowOf(group, withoutRaised(group, raised)));
  const ofFamily = (invoiceId: string | null, family: ItemFamily): string =>
    `${invoiceId} ${familyKey(family)}`;
  const byFamily = groupBy([...rows.entries()], ([, row]) => ofFamily(row.correctedInvoiceId, row));
  const charges: DraftCharge[] = [];
  await eachInPortions(families, (family) => {
    const invoiceId = seededId(facts.seed, `${family.accountId}${family.currency}Charge`);
    if (!facts.invoiceIds.has(invoiceId)) return;
    const own = (byFamily.get(ofFamily(family.invoiceId, family)) ?? []).flatMap(([index, row]) => {
      const group = found[index];
      return group ? [{ row, group }] : [];
    });
    const now = own.reduce<GivenBack>((all, { row }) => plusBack(all, row), nothingBack);
    const back = creditedNow(family, plusBack(family.differences, now));
    if (back.amount.isZero()) return;
    const groups = own.map(({ group }) => group);
    charges.push(chargeOf(family, back, invoiceId, groups));
  });
  return { charges, rows: [...rows, ...charges.map(rowOfCredited)] };
}

/** Keeps what a run has billed of corrections. */
export const keepDifferences = (
  trx: Knex.Transaction,
  tenantId: string,
  { rows }: Differences,
): Promise<void> =>
  rows.length === 0 ? Promise.resolve() : BilledDifference.insertMany(trx, tenantId, rows);

/** What of all differences of a family notes had given back before, less what was billed of that. */
function creditedNow(family: FamilyDifferences, differences: GivenBack): GivenBack {
  const { charged, exact, noted, creditedBefore } = family;
  const left = noted.eq(charged) ? ZERO : exact.minus(noted);
  const needed = noted.isZero()
    ? ZERO
    : Decimal.max(differences.amount.negated().minus(Decimal.max(left, ZERO)), ZERO);
  const amount = needed.minus(creditedBefore.amount);
  // In the proportion of what it is a part of: discounts and grants had their parts of it.
  const whole = amount.isNegative() ? creditedBefore : differences;
  const partOf = (of: Decimal): Decimal =>
    whole.amount.isZero() ? ZERO : roundAmount(of.times(amount).div(whole.amount));
  return { amount, discounted: partOf(whole.discounted), credited: partOf(whole.credited) };
}

/** What minimums and maximums make again of settled periods, by account and currency. */
function raisedPeriods(periods: readonly PeriodCharge[]): Map<string, Decimal> {
  const raised = new Map<string, Decimal>();
  for (const { adjustment, amount, isSettled } of periods) {
    if (!isSettled || !amount.greaterThan(ZERO)) continue;
    const key = `${adjustment.accountId}${adjustment.currency}`;
    raised.set(key, (raised.get(key) ?? ZERO).plus(amount));
  }
  return raised;
}

/** What a difference gives back, less what a minimum or a maximum takes again of the same period. */
function withoutRaised(group: UsageGroup, raised: Map<string, Decimal>): GivenBack {
  const back = {
    amount: new Decimal(group.amount),
    discounted: new Decimal(group.discounted),
    credited: new Decimal(group.credited),
  };
  const key = `${group.accountId}${group.currency}`;
  const taken = Decimal.min(raised.get(key) ?? ZERO, Decimal.max(back.amount.negated(), ZERO));
  if (taken.isZero()) return back;
  raised.set(key, (raised.get(key) ?? ZERO).minus(taken));
  return { ...back, amount: back.amount.plus(taken) };
}

const rowOf = (group: UsageGroup, back: GivenBack): BilledDifferenceRow => ({
  ...back,
  id: group.itemId,
  invoiceId: group.invoiceId,
  correctedInvoiceId: group.correctedInvoiceId ?? '',
  accountId: group.accountId,
  currency: group.currency,
  serviceId: group.serviceId,
  dimensionId: group.dimensionId,
  taxCode: group.taxCode,
  adjustmentId: null,
  adjustedFrom: null,
  isCredited: 'false',
});

/** What notes had credited before, as it is kept. */
export const rowOfCredited = (charge: DraftCharge): BilledDifferenceRow => ({
  amount: charge.amount,
  discounted: charge.discounted,
  credited: charge.credited,
  id: charge.itemId,
  invoiceId: charge.invoiceId,
  correctedInvoiceId: charge.correctedInvoiceId ?? '',
  accountId: charge.accountId,
  currency: charge.currency,
  serviceId: charge.serviceId ?? '',
  dimensionId: charge.dimensionId,
  taxCode: charge.taxCode,
  adjustmentId: null,
  adjustedFrom: null,
  isCredited: 'true',
});

/** The item that says so, on the invoice that bills the difference. */
function chargeOf(
  family: FamilyDifferences,
  back: GivenBack,
  invoiceId: string,
  own: readonly UsageGroup[],
): DraftCharge {
  const { accountId, currency, serviceId, dimensionId, taxCode } = family;
  const firsts = own.map(({ firstDate }) => firstDate).sort();
  const lasts = own.map(({ lastDate }) => lastDate).sort();
  return {
    ...back,
    invoiceId,
    itemId: seededId(invoiceId, `${creditedType}/${family.invoiceId}/${familyKey(family)}`),
    accountId,
    currency,
    usageType: 'Charge',
    serviceId,
    contractId: null,
    isOfOneContract: false,
    contractServiceId: null,
    dimensionId,
    description: `Credited before (correction of ${family.invoiceNo})`,
    // Minus one of what is taken off: an e-invoice knows no price below zero.
    volume: back.amount.isNegative() ? ONE.negated() : ONE,
    unit: null,
    rate: back.amount.abs(),
    proration: null,
    tiers: [],
    share: null,
    taxCode,
    chargeType: creditedType,
    priceMethod: null,
    firstDate: firsts[0] ?? family.periodStart,
    lastDate: lasts.at(-1) ?? family.periodEnd,
    transactions: 0,
    correctedInvoiceId: family.invoiceId,
  };
}
