import type { Knex } from 'knex';
import { Decimal, decimalText, sum, ZERO } from '../../../kernel/numbers/money.js';
import { eachInPortions, mapInPortions, Portions } from '../../../kernel/portions.js';
import { problem, type Problem } from '../../../kernel/problem.js';
import type { Scope } from '../../../kernel/scope.js';
import { dayAfter, dayBefore } from '../../../kernel/time/date.js';
import { periodOf } from '../../../kernel/time/period.js';
import {
  AdjustmentCharge,
  readSpent,
} from '../../../models/billing/adjustments/adjustment-charge.js';
import type { Repricing } from '../../../models/usage/repricing/repricing.js';
import {
  addDifferences,
  nextDifferences,
  writePeriods,
  type PeriodDifference,
  type RepricedPeriod,
} from '../../../models/usage/repricing/repricing-period.js';
import {
  loadPeriodAdjustments,
  type PeriodAdjustment,
} from '../../../queries/billing/adjustments/period-adjustment.js';
import type { TriedAdjustment } from '../../../queries/usage/repricing/changed-facts.js';
import { adjustPeriod } from '../../../rating/index.js';
import { ByDay } from '../../billing/adjustments/by-day.js';
import {
  countsFor,
  inOrder,
  madeBefore,
  madeNow,
  scopeOf,
  type Made,
} from '../../billing/adjustments/order-of-periods.js';

/** Accounts of one transaction. */
const accountsMax = 100;
/** Periods of all adjustments of these accounts: as many as a batch of a billing run looks at. */
const periodsMax = 20_000;
const tooManyPeriods = (): Problem =>
  problem.validation('There are too many periods: choose fewer days.', { field: 'from' });

/** The days of a what-if: the whole periods that end on them are over. */
interface Window {
  readonly first: string;
  readonly last: string;
}

/** Takes note of accounts whose periods are to be computed, also where no usage of theirs is rated. */
export const noteTried = (
  trx: Knex.Transaction,
  tenantId: string,
  repricingId: string,
  tried: readonly TriedAdjustment[],
): Promise<void> =>
  addDifferences(
    trx,
    tenantId,
    repricingId,
    tried.map(({ id, accountId, from }) => ({
      accountId,
      adjustmentId: id,
      periodStart: from,
      difference: '0',
    })),
  );

/**
 * Computes what minimums, maximums and commitments make of the periods of the next accounts, in the books
 * and as it would be (docs/decisions/0386); false: none is left. What they would make more stands in what
 * the account would pay.
 */
export async function adjustNextPeriods(
  { db, tenantId }: Scope,
  { id, fromAt, toAt }: Repricing,
  tried: readonly TriedAdjustment[],
): Promise<boolean> {
  const dayOf = (at: Date): string => at.toISOString().slice(0, 10);
  // A range that ends at midnight does not hold the day that begins then.
  const window = { first: dayOf(fromAt), last: dayOf(new Date(toAt.getTime() - 1)) };
  return db.transaction(async (trx) => {
    const differences = await nextDifferences(trx, tenantId, id, accountsMax);
    const accountIds = [...new Set(differences.map(({ accountId }) => accountId))];
    if (accountIds.length === 0) return false;
    const inForce = await loadPeriodAdjustments(trx, tenantId, accountIds);
    const added = tried.filter(({ accountId }) => accountIds.includes(accountId));
    const periods = await periodsOf(inForce, added, window);
    const made = await madeElsewhere(trx, tenantId, accountIds, periods);
    const spent = await spentOf(trx, tenantId, periods, differences);
    const before = await adjust(
      periods.filter(({ isTried }) => !isTried),
      made,
      ({ before }) => before,
      spent,
    );
    const isReplaced = replacedBy(added);
    const after = await adjust(
      periods.filter((period) => !isReplaced(period)),
      made,
      ({ after }) => after,
      spent,
    );
    const rows = await mapInPortions(periods, (period) =>
      rowOf(period, before.get(period), after.get(period)),
    );
    const isShown = (row: RepricedPeriod): boolean => row.isTried || row.before !== row.after;
    await writePeriods(trx, tenantId, id, accountIds, rows.filter(isShown));
    return true;
  });
}

/** A period of an adjustment, as a billing run up to the last day of a what-if would see it. */
interface TriedPeriod {
  readonly adjustment: TriedAdjustment;
  readonly isTried: boolean;
  readonly value: Decimal;
  readonly start: string;
  readonly end: string;
  readonly until: string;
  readonly isOver: boolean;
}

/** The periods of what is in force and what is tried, in the order in which they are applied. */
async function periodsOf(
  inForce: readonly PeriodAdjustment[],
  added: readonly TriedAdjustment[],
  window: Window,
): Promise<TriedPeriod[]> {
  const all = [
    ...inForce.map((adjustment) => eachPeriodOf(adjustment, adjustment.settled, window, false)),
    ...added.map((adjustment) => eachPeriodOf(adjustment, {}, window, true)),
  ];
  const periods: TriedPeriod[] = [];
  const portions = new Portions();
  for (const ofOne of all) {
    for (const period of ofOne) {
      if (periods.push(period) > periodsMax) throw tooManyPeriods();
      if (portions.isOver) await portions.rest();
    }
  }
  return inOrder(periods);
}

function* eachPeriodOf(
  adjustment: TriedAdjustment,
  settled: PeriodAdjustment['settled'],
  { first, last }: Window,
  isTried: boolean,
): Generator<TriedPeriod> {
  const { from, to, kind } = adjustment;
  let period = periodOf(adjustment.period, first < from ? from : first);
  while (period.start <= last && (to === null || period.start < to)) {
    const end = to !== null && to < period.end ? to : period.end;
    const isOver = end <= dayAfter(last);
    if (end > first && (isOver || kind === 'maximum')) {
      yield {
        adjustment,
        isTried,
        value: new Decimal(settled[period.start] ?? adjustment.value),
        start: period.start,
        end,
        until: isOver ? end : dayAfter(last),
        isOver,
      };
    }
    // Behind the last day that there is come no periods.
    if (period.end <= period.start) return;
    period = periodOf(adjustment.period, period.end);
  }
}

/** Tells whether an adjustment in force gives way to a tried one of the same kind, charges and period. */
function replacedBy(tried: readonly TriedAdjustment[]): (period: TriedPeriod) => boolean {
  const alike = (adjustment: TriedAdjustment): string =>
    JSON.stringify([adjustment.kind, adjustment.period, scopeOf(adjustment)]);
  const byCharges = new Map(tried.map((one) => [alike(one), [] as TriedAdjustment[]]));
  for (const one of tried) byCharges.get(alike(one))?.push(one);
  return ({ adjustment, isTried, start }) =>
    !isTried &&
    (byCharges.get(alike(adjustment)) ?? []).some(
      (one) => start >= periodOf(one.period, one.from).start && (one.to === null || start < one.to),
    );
}

/** What was billed of other periods, such as those of months that a commitment of a year holds. */
async function madeElsewhere(
  trx: Knex.Transaction,
  tenantId: string,
  accountIds: readonly string[],
  periods: readonly TriedPeriod[],
): Promise<Made[]> {
  const computed = new Set(periods.map(({ adjustment, start }) => `${adjustment.id}/${start}`));
  const earlier = await AdjustmentCharge.ofAccounts(trx, tenantId, accountIds);
  const others = earlier.filter(
    (row) => row.voidedAt === null && !computed.has(`${row.adjustmentId}/${row.periodStart}`),
  );
  return mapInPortions(others, madeBefore);
}

/** What a period came to, and would come to, before adjustments. */
interface Spent {
  readonly before: Decimal;
  readonly after: Decimal;
}

async function spentOf(
  trx: Knex.Transaction,
  tenantId: string,
  periods: readonly TriedPeriod[],
  differences: readonly PeriodDifference[],
): Promise<ReadonlyMap<TriedPeriod, Spent>> {
  const asked = periods.map(({ adjustment, start, until }) => ({
    ...scopeOf(adjustment),
    first: start,
    until,
  }));
  const booked = periods.map(() => ZERO);
  for (const { place, amount } of await readSpent(trx, tenantId, asked)) {
    booked[place - 1] = (booked[place - 1] ?? ZERO).plus(amount);
  }
  const more = new Map(
    differences.map(({ adjustmentId, periodStart, difference }) => [
      `${adjustmentId}/${periodStart}`,
      difference,
    ]),
  );
  return new Map(
    periods.map((period, index) => {
      const before = booked[index] ?? ZERO;
      const difference = more.get(`${period.adjustment.id}/${period.start}`) ?? '0';
      return [period, { before, after: before.plus(difference) }];
    }),
  );
}

interface Adjusted {
  readonly spent: Decimal;
  readonly amount: Decimal;
}

/** What adjustments make of their periods, one after the other, as a billing run applies them. */
async function adjust(
  periods: readonly TriedPeriod[],
  elsewhere: readonly Made[],
  choose: (spent: Spent) => Decimal,
  spent: ReadonlyMap<TriedPeriod, Spent>,
): Promise<ReadonlyMap<TriedPeriod, Adjusted>> {
  const made = new ByDay<Made>();
  await eachInPortions(elsewhere, (row) => made.add(row, row.start, row));
  const adjusted = new Map<TriedPeriod, Adjusted>();
  await eachInPortions(periods, (period) => {
    const { adjustment, value, start, end, isOver } = period;
    const of = spent.get(period);
    const others = made
      .between(adjustment, start, end)
      .filter((row) => countsFor(row, period))
      .map(({ amount }) => amount);
    const whole = sum([of ? choose(of) : ZERO, ...others]);
    const amount = adjustPeriod(adjustment.kind, value, whole, isOver);
    adjusted.set(period, { spent: whole, amount });
    made.add(adjustment, start, madeNow({ ...period, amount }));
  });
  return adjusted;
}

const rowOf = (
  { adjustment, isTried, value, start, end }: TriedPeriod,
  before: Adjusted | undefined,
  after: Adjusted | undefined,
): RepricedPeriod => ({
  accountId: adjustment.accountId,
  adjustmentId: adjustment.id,
  periodStart: start,
  isTried,
  kind: adjustment.kind,
  value: decimalText(value),
  currency: adjustment.currency,
  periodEnd: dayBefore(end),
  spentBefore: decimalText(before?.spent ?? after?.spent ?? ZERO),
  spentAfter: decimalText(after?.spent ?? before?.spent ?? ZERO),
  before: decimalText(before?.amount ?? ZERO),
  after: decimalText(after?.amount ?? ZERO),
});
