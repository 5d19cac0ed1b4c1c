import { Decimal } from '../../../kernel/numbers/money.js';
import { daysFrom } from '../../../kernel/time/date.js';
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

/** Maximums, minimums, commitments; of one kind shorter periods first, since longer ones hold them. */
export function byOrder(a: OrderedPeriod, b: OrderedPeriod): number {
  const rank = ({ adjustment: { kind, period } }: OrderedPeriod): number =>
    periodKinds.indexOf(kind) * frequencies.length + frequencies.indexOf(period);
  const order = rank(a) - rank(b);
  if (order !== 0) return order;
  const key = ({ adjustment, start }: OrderedPeriod): string => `${adjustment.id}${start}`;
  return key(a) < key(b) ? -1 : 1;
}

/** What an adjustment has made of a period, in this run or before. */
export interface Made extends ChargeScope {
  readonly kind: PeriodKind;
  readonly start: string;
  readonly end: string;
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
  start: row.periodStart,
  end: row.periodEnd,
  amount: new Decimal(row.amount),
});

export const madeNow = ({
  adjustment,
  start,
  end,
  amount,
}: OrderedPeriod & Pick<Made, 'amount'>): Made => ({
  ...scopeOf(adjustment),
  kind: adjustment.kind,
  start,
  end,
  amount,
});

/** Whether what another adjustment made is part of what a period came to: it is applied before. */
export function countsFor(row: Made, period: OrderedPeriod): boolean {
  const { adjustment: of, start, end } = period;
  const isEarlier =
    row.kind === of.kind
      ? daysFrom(row.start, row.end) < daysFrom(start, end)
      : periodKinds.indexOf(row.kind) < periodKinds.indexOf(of.kind);
  return isEarlier && isWithin(row, period);
}

/** Whether a period with its charges is part of another one. */
export const isWithin = (row: Made, { adjustment: of, start, end }: OrderedPeriod): boolean =>
  row.accountId === of.accountId &&
  row.currency === of.currency &&
  row.start >= start &&
  row.end <= end &&
  (of.contractId === null || of.contractId === row.contractId) &&
  (of.lineageId === null || of.lineageId === row.lineageId) &&
  (of.serviceId === null || of.serviceId === row.serviceId);
