import type { Knex } from 'knex';
import { defined } from '../../../kernel/defined.js';
import { Decimal, ONE, roundAmount, sum, ZERO } from '../../../kernel/numbers/money.js';
import { eachInPortions, mapInPortions, Portions } from '../../../kernel/portions.js';
import { dayAfter } from '../../../kernel/time/date.js';
import type { Days } from '../../../kernel/time/billing-calendar.js';
import { periodOf, type Period } from '../../../kernel/time/period.js';
import {
  AdjustmentCharge,
  readSpent,
} from '../../../models/billing/adjustments/adjustment-charge.js';
import type { UsageGroup } from '../../../models/billing/usage-items.js';
import type { ChargeNames } from '../../../queries/billing/charge-names.js';
import type { PeriodAdjustment } from '../../../queries/billing/adjustments/period-adjustment.js';
import { adjustPeriod } from '../../../rating/index.js';
import { ByDay } from './by-day.js';
import {
  countsFor,
  inOrder,
  isShorterWithin,
  madeBefore,
  madeNow,
  scopeOf,
  type Made,
} from './order-of-periods.js';
import { TooManyCharges } from '../charge-limit.js';
import type { RecurringCharged } from '../recurring/recurring-charges.js';

/** An adjustment and one of its periods, `[start, end)`, cut where it or its contract ends. */
export interface AdjustedPeriod {
  readonly adjustment: PeriodAdjustment;
  readonly start: string;
  readonly end: string;
  /** The day before which charges count: the end, or the day after that of the run. */
  readonly until: string;
  /** The last day of the run where later ones are billed already: of those only what is billed counts. */
  readonly billedAfter?: string;
  readonly isOver: boolean;
  /** Whether a run has brought it to what was agreed before. */
  readonly isSettled: boolean;
}

/** What of an amount has a tax code, and the share of it: of 0, too, which may have credits. */
interface PeriodPart {
  readonly taxCode: string | null;
  readonly amount: Decimal;
  readonly share: Decimal;
}

/** What an adjustment bills for a period now. */
export interface PeriodCharge extends AdjustedPeriod {
  /** What the period came to before. */
  readonly spent: Decimal;
  /** Below zero where it takes off, by the tax codes of what was charged. */
  readonly amount: Decimal;
  readonly parts: readonly PeriodPart[];
  /** What grants have paid of the period, but for recurring charges of this run. */
  readonly paid: Decimal;
  /** What was billed of it before, voided ones too. */
  readonly earlier: readonly AdjustmentCharge[];
  /** What other adjustments have made of the period, that is in `spent`: earlier runs, and this one. */
  readonly countedBefore: readonly AdjustmentCharge[];
  readonly countedNow: readonly PeriodCharge[];
  /** What others, also of more charges, have made of shorter periods within it, that is not in `spent`. */
  readonly withinBefore: readonly AdjustmentCharge[];
}

interface Facts {
  readonly adjustments: readonly PeriodAdjustment[];
  /** What the run takes: it may touch periods that were billed before. */
  readonly usage: readonly UsageGroup[];
  readonly recurring: readonly RecurringCharged[];
  readonly names: ChargeNames;
  /** The days of the run, by the account that is billed. */
  readonly windows: ReadonlyMap<string, Days>;
}

/** What was billed before, as it counts for others. */
interface EarlierRow {
  readonly row: AdjustmentCharge;
  readonly made: Made;
}

/** Periods of all adjustments that one batch may look at. */
const periodsMax = 20_000;
/** What they may be billed in, by tax codes: each is an item, though nothing is to be paid for it. */
const partsMax = 100_000;

/**
 * What maximums, minimums and commitments bill now (spec/beyond.md R287 to R291): of each period that the
 * run touches what it must come to, less what was billed for it before. So a period that is billed again,
 * or corrected later, comes to the same in the end, and nothing is billed twice.
 */
export async function findPeriodCharges(
  db: Knex,
  tenantId: string,
  facts: Facts,
): Promise<PeriodCharge[]> {
  const { adjustments } = facts;
  if (adjustments.length === 0) return [];
  const accountIds = [...new Set(adjustments.map(({ accountId }) => accountId))];
  const earlier = await AdjustmentCharge.ofAccounts(db, tenantId, accountIds);
  const periods = inOrder(await touchedPeriods(facts, earlier));
  const spent = await spentOf(db, tenantId, facts, periods);
  const rowsByDay = new ByDay<EarlierRow>();
  await eachInPortions(earlier, (row) =>
    rowsByDay.add(row, row.periodStart, { row, made: madeBefore(row) }),
  );
  const madeByRun = new ByDay<{ readonly charge: PeriodCharge; readonly made: Made }>();
  const found: PeriodCharge[] = [];
  const portions = new Portions();
  let partCount = 0;
  for (const [index, period] of periods.entries()) {
    if (portions.isOver) await portions.rest();
    const { adjustment, start, end } = period;
    const rows = rowsByDay.between(adjustment, start, end);
    const own = rows.flatMap(({ row }) =>
      row.adjustmentId === adjustment.id && row.periodStart === start ? [row] : [],
    );
    const live = rows.filter(({ row }) => row.voidedAt === null);
    const charged = spent[index] ?? { byTaxCode: new Map<string | null, Decimal>(), paid: ZERO };
    const base = sum([...charged.byTaxCode.values()]);
    const countedBefore = live.filter(({ made }) => countsFor(made, period));
    const withinBefore = live.filter(
      ({ made }) => isShorterWithin(made, period) && !countsFor(made, period),
    );
    const countedNow = madeByRun
      .between(adjustment, start, end)
      .filter(({ made }) => countsFor(made, period));
    const others = [...countedBefore, ...countedNow].map(({ made }) => made.amount);
    const before = sum([base, ...others]);
    const needed = adjustPeriod(
      adjustment.kind,
      new Decimal(adjustment.value),
      before,
      period.isOver,
    );
    const billed = billedByTaxCode(own);
    const amount = needed.minus(sum([...billed.values()]));
    const byTaxCode = takesBack(amount, billed) ? positive(billed) : charged.byTaxCode;
    partCount += byTaxCode.size;
    if (partCount > partsMax) throw new TooManyCharges('There are too many periods and tax codes');
    const parts = await partsOf(amount, byTaxCode);
    const charge = {
      ...period,
      spent: before,
      amount,
      parts,
      paid: charged.paid,
      earlier: own,
      countedBefore: countedBefore.map(({ row }) => row),
      countedNow: countedNow.map((other) => other.charge),
      withinBefore: withinBefore.map(({ row }) => row),
    };
    found.push(charge);
    madeByRun.add(adjustment, start, { charge, made: madeNow(charge) });
  }
  return found;
}

/** The periods that this run may bill, or that what it takes has changed. */
async function touchedPeriods(
  { adjustments, usage, recurring, windows }: Facts,
  earlier: readonly AdjustmentCharge[],
): Promise<AdjustedPeriod[]> {
  const first = new Map([...windows].map(([accountId, window]) => [accountId, window.first]));
  const touch = (accountId: string, day: string): void => {
    const known = first.get(accountId);
    if (known === undefined || day < known) first.set(accountId, day);
  };
  for (const { accountId, firstDate } of usage) touch(accountId, firstDate);
  for (const { part } of recurring) touch(part.billedAccountId, part.days.first);
  // What was voided and not billed again since.
  for (const row of earlier) if (row.voidedAt !== null) touch(row.accountId, row.periodStart);
  const periods: AdjustedPeriod[] = [];
  const portions = new Portions();
  for (const adjustment of adjustments) {
    const { from, accountId } = adjustment;
    const window = windows.get(accountId);
    const since = first.get(accountId);
    if (!window || since === undefined) continue;
    for (const period of periodsSince(adjustment, laterOf(since, from), window)) {
      if (portions.isOver) await portions.rest();
      const touched = touchedPeriod(adjustment, period, window);
      if (touched) periods.push(touched);
      if (periods.length > periodsMax) throw new TooManyCharges('There are too many periods');
    }
  }
  return periods;
}

const laterOf = (day: string, other: string): string => (day < other ? other : day);

/**
 * The periods from that day on that a run may touch: those that were settled, and all from the first one of which
 * it may bill something that was not billed. Of a minimum since 1900 those between may be ever so many.
 */
function* periodsSince(
  { kind, from, to, period: frequency, billedUntil, settled }: PeriodAdjustment,
  since: string,
  window: Days,
): Generator<Period> {
  const isIn = ({ start }: Period): boolean => start <= window.last && (to === null || start < to);
  const unbilled = billedUntil === null ? since : dayAfter(billedUntil);
  const open = kind === 'maximum' && unbilled < window.first ? unbilled : window.first;
  const first = periodOf(frequency, since).start;
  const all = periodOf(frequency, laterOf(laterOf(open, since), from)).start;
  for (const day of Object.keys(settled).sort()) {
    if (day < first || day >= all) continue;
    const period = periodOf(frequency, day);
    if (period.start === day && isIn(period)) yield period;
  }
  for (let period = periodOf(frequency, all); isIn(period);) {
    yield period;
    period = periodOf(frequency, period.end);
  }
}

/**
 * A period as a run adjusts it; undefined: it leaves it as it is. What is agreed falls due on the last day
 * of the period, as recurring charges in arrears do, and only a run that holds that day bills it. Later
 * ones bring what has changed of it to what was agreed then (docs/decisions/0425).
 *
 * A minimum from January that is made in November is billed for November by its run, and for March by a
 * run of March alone.
 */
function touchedPeriod(
  adjustment: PeriodAdjustment,
  { start, end: whole }: Period,
  window: Days,
): AdjustedPeriod | undefined {
  const { to, kind, billedUntil, settled } = adjustment;
  const end = to !== null && to < whole ? to : whole;
  const isOver = end <= dayAfter(window.last);
  // A run of days that are billed already leaves a maximum what later ones have taken off.
  const last = billedUntil !== null && billedUntil > window.last ? billedUntil : window.last;
  const period = {
    adjustment,
    start,
    end,
    until: end <= dayAfter(last) ? end : dayAfter(last),
    isOver,
    ...defined({ billedAfter: last === window.last ? undefined : window.last }),
  };
  if (!isOver) return kind === 'maximum' ? { ...period, isSettled: false } : undefined;
  if (window.first < end) return { ...period, isSettled: false };
  const value = settled[start];
  if (value !== undefined) {
    return { ...period, adjustment: { ...adjustment, value }, isSettled: true };
  }
  // An end that becomes known later makes due what would have been due later without it.
  if (window.first < whole) return { ...period, isSettled: false };
  // A maximum holds for whatever is billed of its days for the first time.
  const wasBilled = billedUntil !== null && end <= dayAfter(billedUntil);
  return kind === 'maximum' && !wasBilled ? { ...period, isSettled: false } : undefined;
}

interface Spent {
  readonly byTaxCode: Map<string | null, Decimal>;
  paid: Decimal;
}

/** What each period was charged, with the recurring charges of this run, which are not stored yet. */
async function spentOf(
  db: Knex,
  tenantId: string,
  { recurring, names }: Facts,
  periods: readonly AdjustedPeriod[],
): Promise<Spent[]> {
  const asked = periods.map(({ adjustment, start, until, billedAfter }) => ({
    ...scopeOf(adjustment),
    first: start,
    until,
    ...defined({ billedAfter }),
  }));
  const found = periods.map((): Spent => ({ byTaxCode: new Map(), paid: ZERO }));
  const add = ({ byTaxCode }: Spent, taxCode: string | null, amount: Decimal): void => {
    byTaxCode.set(taxCode, (byTaxCode.get(taxCode) ?? ZERO).plus(amount));
  };
  const rows = await readSpent(db, tenantId, asked);
  await eachInPortions(rows, ({ place, taxCode, amount, paid }) => {
    const of = found[place - 1];
    if (!of) return;
    add(of, taxCode, new Decimal(amount));
    of.paid = of.paid.plus(paid);
  });
  const recurringOf = recurringByDay(recurring);
  await eachInPortions(periods, (period, index) => {
    for (const charge of recurringOf(period)) {
      const of = found[index];
      if (of)
        add(of, names.rows.get(charge.part.taxRowId ?? '')?.taxCode ?? null, charge.part.amount);
    }
  });
  return found;
}

/** The recurring charges that count for a period. */
export function recurringByDay<Charge extends RecurringCharged>(
  recurring: readonly Charge[],
): (period: AdjustedPeriod) => Charge[] {
  const byDay = new ByDay<Charge>();
  for (const charge of recurring) {
    const { billedAccountId: accountId, currency, days } = charge.part;
    byDay.add({ accountId, currency }, days.first, charge);
  }
  return (period) =>
    byDay
      .between(period.adjustment, period.start, period.until)
      .filter((charge) => isOfPeriod(charge, period));
}

function isOfPeriod(
  { line, service, part }: RecurringCharged,
  { adjustment: of }: AdjustedPeriod,
): boolean {
  return (
    part.usageType === 'Charge' &&
    (of.contractId === null || of.contractId === line.contractId) &&
    (of.lineageId === null || of.lineageId === line.lineageId) &&
    (of.serviceId === null || of.serviceId === service.id)
  );
}

type ByTaxCode = ReadonlyMap<string | null, Decimal>;

/** What invoices that are not void have of a period, by tax code. */
function billedByTaxCode(earlier: readonly AdjustmentCharge[]): ByTaxCode {
  const billed = new Map<string | null, Decimal>();
  for (const { taxCode, amount, voidedAt } of earlier) {
    if (voidedAt === null) billed.set(taxCode, (billed.get(taxCode) ?? ZERO).plus(amount));
  }
  return billed;
}

/** Whether an amount takes back of what was billed before: it has the tax that this had. */
function takesBack(amount: Decimal, billed: ByTaxCode): boolean {
  const before = sum([...billed.values()]);
  return !before.isZero() && !amount.isZero() && before.isNegative() !== amount.isNegative();
}

/** With the sign that makes it positive as a whole. */
function positive(billed: ByTaxCode): ByTaxCode {
  const isNegative = sum([...billed.values()]).isNegative();
  return new Map([...billed].map(([code, of]) => [code, isNegative ? of.negated() : of]));
}

/** An amount in the proportion of others, by their tax codes; the last has what remains. */
async function partsOf(amount: Decimal, byTaxCode: ByTaxCode): Promise<readonly PeriodPart[]> {
  const charged = [...byTaxCode].filter(([, of]) => of.greaterThan(ZERO));
  const whole = sum(charged.map(([, of]) => of));
  let left = amount;
  const parts = await mapInPortions(charged, ([taxCode, of], index) => {
    const isLast = index === charged.length - 1;
    const part = isLast ? left : roundAmount(amount.times(of).div(whole));
    left = left.minus(part);
    return { taxCode, amount: part, share: of.div(whole) };
  });
  return parts.length > 0 ? parts : [{ taxCode: null, amount, share: ONE }];
}
