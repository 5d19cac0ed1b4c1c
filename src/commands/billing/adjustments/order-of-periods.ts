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
function sizeOf({ period, contractId, lineageId, serviceId }: Sized): readonly number[] {
  const scope = lineageId !== null ? 0 : contractId !== null ? 1 : 2;
  return [frequencies.indexOf(period), scope * 2 + (serviceId === null ? 1 : 0)];
}

type Sized = Pick<ChargeScope, 'contractId' | 'lineageId' | 'serviceId'> & {
  readonly period: Frequency;
};

/** Below zero where the first is of fewer days, or of fewer charges on as many. */
function compareSize(a: Sized, b: Sized): number {
  const [one, other] = [sizeOf(a), sizeOf(b)];
  return one[0] === other[0] ? (one[1] ?? 0) - (other[1] ?? 0) : (one[0] ?? 0) - (other[0] ?? 0);
}

/** Maximums, minimums, commitments; of one kind smaller ones first, since larger ones hold them. */
export function byOrder(a: OrderedPeriod, b: OrderedPeriod): number {
  const rank = ({ adjustment: { kind } }: OrderedPeriod): number => periodKinds.indexOf(kind);
  const order = rank(a) - rank(b) || compareSize(a.adjustment, b.adjustment);
  if (order !== 0) return order;
  const key = ({ adjustment, start }: OrderedPeriod): string => `${adjustment.id}${start}`;
  return key(a) < key(b) ? -1 : 1;
}

/** Shorter periods first, whatever is agreed; those of one length in the order of `byOrder`. */
export const byLength = (a: OrderedPeriod, b: OrderedPeriod): number =>
  frequencies.indexOf(a.adjustment.period) - frequencies.indexOf(b.adjustment.period) ||
  byOrder(a, b);

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
      ? compareSize(row, of) < 0
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
