import { Decimal } from '../../../kernel/numbers/money.js';
import { frequencies, type Frequency } from '../../../kernel/time/period.js';
import type {
  AdjustmentCharge,
  ChargeScope,
} from '../../../models/billing/adjustments/adjustment-charge.js';
import { periodKinds, type PeriodKind } from '../../../rating/index.js';

/** A period of an adjustment, `[start, end)`, in the order in which they are applied. */
interface OrderedPeriod {
  readonly adjustment: ChargeScope & {
    readonly id: string;
    readonly kind: PeriodKind;
    readonly period: Frequency;
  };
  readonly start: string;
  readonly end: string;
}

/** How long periods are, and then how many charges they are of: the account's are the widest. */
function sizeOf({ period, contractId, lineageId, serviceId }: Sized): number {
  const scope = lineageId !== null ? 0 : contractId !== null ? 1 : 2;
  return frequencies.indexOf(period) * 10 + scope * 2 + (serviceId === null ? 1 : 0);
}

type Sized = Pick<ChargeScope, 'contractId' | 'lineageId' | 'serviceId'> & {
  readonly period: Frequency;
};

/** Maximums, minimums, commitments; of one kind smaller ones first, since larger ones hold them. */
const orderOf = ({ adjustment }: OrderedPeriod): number =>
  periodKinds.indexOf(adjustment.kind) * 100 + sizeOf(adjustment);

/** Shorter periods first, whatever is agreed; those of one length in the order in which they are applied. */
const lengthOf = (period: OrderedPeriod): number =>
  frequencies.indexOf(period.adjustment.period) * 1_000 + orderOf(period);

/** Sorts by numbers that are looked up once: of 20,000 things, 300,000 pairs are compared. */
function sortBy<T>(
  things: readonly T[],
  periodOf: (thing: T) => OrderedPeriod,
  numberOf: (period: OrderedPeriod) => number,
): T[] {
  const placed = things.map((thing) => {
    const period = periodOf(thing);
    return { thing, number: numberOf(period), key: `${period.adjustment.id}${period.start}` };
  });
  placed.sort((a, b) => a.number - b.number || (a.key < b.key ? -1 : 1));
  return placed.map(({ thing }) => thing);
}

/** In the order in which they are applied. */
export const inOrder = <T extends OrderedPeriod>(periods: readonly T[]): T[] =>
  sortBy(periods, (period) => period, orderOf);

/** Shorter periods first. */
export const shorterFirst = <T>(things: readonly T[], periodOf: (thing: T) => OrderedPeriod): T[] =>
  sortBy(things, periodOf, lengthOf);

/** What an adjustment has made of a period, in this run or before. */
export interface Made extends ChargeScope {
  readonly kind: PeriodKind;
  readonly period: Frequency;
  readonly start: string;
  readonly amount: Decimal;
}

export const scopeOf = ({
  accountId,
  contractId,
  lineageId,
  serviceId,
  currency,
}: ChargeScope): ChargeScope => ({ accountId, contractId, lineageId, serviceId, currency });

export const madeBefore = (row: AdjustmentCharge): Made => ({
  ...scopeOf(row),
  kind: row.kind,
  period: row.period,
  start: row.periodStart,
  amount: new Decimal(row.amount),
});

export const madeNow = ({
  adjustment,
  start,
  amount,
}: OrderedPeriod & Pick<Made, 'amount'>): Made => ({
  ...scopeOf(adjustment),
  kind: adjustment.kind,
  period: adjustment.period,
  start,
  amount,
});

/** Whether what another adjustment made is part of what a period came to: it is applied before. */
export function countsFor(row: Made, period: OrderedPeriod): boolean {
  const { adjustment: of } = period;
  const isEarlier =
    row.kind === of.kind
      ? sizeOf(row) < sizeOf(of)
      : periodKinds.indexOf(row.kind) < periodKinds.indexOf(of.kind);
  return isEarlier && isWithin(row, period);
}

/** Whether another period is of the charges of this one: by its first day, as charges are by theirs. */
export const isWithin = (row: Made, { adjustment: of, start, end }: OrderedPeriod): boolean =>
  row.accountId === of.accountId &&
  row.currency === of.currency &&
  row.start >= start &&
  row.start < end &&
  frequencies.indexOf(row.period) <= frequencies.indexOf(of.period) &&
  (of.contractId === null || of.contractId === row.contractId) &&
  (of.lineageId === null || of.lineageId === row.lineageId) &&
  (of.serviceId === null || of.serviceId === row.serviceId);

/** Whether a shorter period within this one may be of the same charges, of all of them or some. */
export function isShorterWithin(row: Made, { adjustment: of, start, end }: OrderedPeriod): boolean {
  const mayBe = (own: string | null, other: string | null): boolean =>
    own === null || other === null || own === other;
  return (
    row.accountId === of.accountId &&
    row.currency === of.currency &&
    row.start >= start &&
    row.start < end &&
    frequencies.indexOf(row.period) < frequencies.indexOf(of.period) &&
    mayBe(row.contractId, of.contractId) &&
    mayBe(row.lineageId, of.lineageId) &&
    mayBe(row.serviceId, of.serviceId)
  );
}
