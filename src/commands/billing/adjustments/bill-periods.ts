import type { Knex } from 'knex';
import { seededId } from '../../../kernel/id.js';
import {
  Decimal,
  decimalText,
  ONE,
  roundAmount,
  roundToMinorUnit,
  sum,
  ZERO,
} from '../../../kernel/numbers/money.js';
import { referenceData } from '../../../kernel/reference-data.js';
import { dayBefore } from '../../../kernel/time/date.js';
import { periodOf } from '../../../kernel/time/period.js';
import {
  AdjustmentCharge,
  type AdjustmentChargeRow,
} from '../../../models/billing/adjustments/adjustment-charge.js';
import { keepAdjustedPeriods } from '../../../models/billing/adjustments/adjusted-period.js';
import type { UnpaidCharge } from '../../balances/pay-charges.js';
import type { DraftCharge } from '../invoice-draft.js';
import type { RecurringCharged } from '../recurring/recurring-charges.js';
import { isOfPeriod, type PeriodCharge } from './period-charges.js';
import {
  drawnBefore,
  payableAmount,
  uncreditedTopUp,
  type PeriodCredits,
} from './period-credits.js';

const chargeTypes = { maximum: 'Maximum', minimum: 'Minimum', commitment: 'Commitment' } as const;

/** A part of a period's charge that becomes an item, by its tax code. */
export interface PeriodItem {
  readonly charge: PeriodCharge;
  readonly taxCode: string | null;
  readonly amount: Decimal;
  readonly invoiceId: string;
  readonly itemId: string;
  readonly chargeId: string;
}

/** The items of what adjustments bill, with the ids that a run gives them. */
export function periodItems(charges: readonly PeriodCharge[], seed: string): PeriodItem[] {
  return charges.flatMap((charge) => {
    const { adjustment, start, parts } = charge;
    const invoiceId = seededId(seed, `${adjustment.accountId}${adjustment.currency}Charge`);
    return parts.map(({ taxCode, amount }, index) => {
      const itemId = seededId(invoiceId, `${adjustment.id}/${start}/${index}`);
      return { charge, taxCode, amount, invoiceId, itemId, chargeId: seededId(itemId, 'charge') };
    });
  });
}

/** What is topped up, as grants may pay it. */
export const payableOfPeriod = (item: PeriodItem, credits: PeriodCredits): UnpaidCharge => ({
  id: item.chargeId,
  accountId: item.charge.adjustment.accountId,
  currency: item.charge.adjustment.currency,
  serviceId: item.charge.adjustment.serviceId,
  usageType: 'Charge',
  amount: payableAmount(item, credits),
});

/**
 * What of the credits of a period has to go back, because a maximum, or what is left of a top-up, is less
 * than they have paid: of the invoice, and of it what no earlier run has given back to the wallets.
 */
export interface Uncredited {
  readonly onInvoice: Decimal;
  readonly returned: Decimal;
}

/** What grants pay of what a run bills. */
interface PaidNow {
  readonly ofRecurring: (charge: RecurringCharged) => Decimal;
  readonly ofPeriod: (charge: PeriodCharge) => Decimal;
}

/** spec/beyond.md R290, R388. */
export function uncreditedOf(
  charge: PeriodCharge,
  recurring: readonly RecurringCharged[],
  credits: PeriodCredits,
  paidNow: PaidNow,
): Uncredited {
  const { adjustment, spent, paid, amount, earlier } = charge;
  const none = { onInvoice: ZERO, returned: ZERO };
  const own = recurring.filter((one) => isOfPeriod(one, charge)).map(paidNow.ofRecurring);
  if (adjustment.kind !== 'maximum') {
    return amount.isNegative() ? uncreditedTopUp(charge, credits, sum(own)) : none;
  }
  const value = new Decimal(adjustment.value);
  if (spent.lessThanOrEqualTo(value)) return none;
  const all = [paid, ...own, drawnBefore(charge, credits), paidNow.ofPeriod(charge)];
  const surplus = Decimal.max(sum(all).minus(value), ZERO);
  const live = earlier.filter(({ voidedAt }) => voidedAt === null);
  const onInvoice = surplus.minus(sum(live.map(({ uncredited }) => new Decimal(uncredited))));
  const given = sum(earlier.map(({ returned }) => new Decimal(returned)));
  return {
    onInvoice: Decimal.max(onInvoice, ZERO),
    returned: Decimal.max(surplus.minus(given), ZERO),
  };
}

/** The item of an adjustment before it is rounded. */
export function draftOfPeriod(item: PeriodItem, credited: Decimal): DraftCharge {
  const { charge, taxCode, amount, invoiceId, itemId } = item;
  const { adjustment, start, until, earlier, isOver } = charge;
  const { currency, kind, value } = adjustment;
  const digits = referenceData.currency(currency)?.minorDigits ?? 2;
  const corrected = earlier.filter(({ voidedAt }) => voidedAt === null).at(-1);
  return {
    invoiceId,
    itemId,
    accountId: adjustment.accountId,
    currency,
    usageType: 'Charge',
    serviceId: adjustment.serviceId,
    contractId: adjustment.contractId,
    isOfOneContract: adjustment.contractId !== null,
    contractServiceId: null,
    dimensionId: null,
    description: `${chargeTypes[kind]} of ${decimalText(new Decimal(value))} (${namePeriod(charge)})`,
    // Minus one of what is taken off: an e-invoice knows no price below zero.
    volume: amount.isNegative() ? ONE.negated() : ONE,
    unit: null,
    rate: roundToMinorUnit(amount.abs(), digits),
    proration: null,
    tiers: [],
    amount,
    discounted: ZERO,
    credited,
    share: null,
    taxCode,
    chargeType: chargeTypes[kind],
    priceMethod: null,
    firstDate: start,
    lastDate: dayBefore(until),
    transactions: 0,
    correctedInvoiceId: isOver && kind !== 'maximum' ? (corrected?.invoiceId ?? null) : null,
  };
}

/** A period in the words of an item: a whole month or year by its name, else its days. */
function namePeriod({ start, end }: Pick<PeriodCharge, 'start' | 'end'>): string {
  const last = dayBefore(end);
  for (const [frequency, length] of [
    ['Yearly', 4],
    ['Monthly', 7],
  ] as const) {
    const whole = periodOf(frequency, start);
    if (whole.start === start && whole.end === end) return start.slice(0, length);
  }
  return start === last ? start : `${start} to ${last}`;
}

/** Keeps what adjustments have billed. */
export async function insertPeriodCharges(
  trx: Knex.Transaction,
  tenantId: string,
  items: readonly PeriodItem[],
  uncredited: ReadonlyMap<PeriodItem, Uncredited>,
): Promise<void> {
  const rows = items.map((item): AdjustmentChargeRow => {
    const { charge, taxCode, amount, invoiceId, itemId, chargeId } = item;
    const { adjustment, start, end, spent } = charge;
    const { onInvoice, returned } = uncredited.get(item) ?? { onInvoice: ZERO, returned: ZERO };
    return {
      id: chargeId,
      adjustmentId: adjustment.id,
      accountId: adjustment.accountId,
      contractId: adjustment.contractId,
      lineageId: adjustment.lineageId,
      serviceId: adjustment.serviceId,
      kind: adjustment.kind,
      currency: adjustment.currency,
      periodStart: start,
      periodEnd: end,
      spent,
      value: new Decimal(adjustment.value),
      amount,
      uncredited: onInvoice,
      returned,
      taxCode,
      invoiceId,
      invoiceItemId: itemId,
    };
  });
  if (rows.length > 0) await AdjustmentCharge.insertMany(trx, tenantId, rows);
}

/** Keeps which periods this run has brought to what was agreed, also where nothing is billed for it. */
export function settlePeriods(
  trx: Knex.Transaction,
  tenantId: string,
  charges: readonly PeriodCharge[],
): Promise<void> {
  const settled = charges.filter(({ isOver, isSettled }) => isOver && !isSettled);
  return keepAdjustedPeriods(
    trx,
    tenantId,
    settled.map(({ adjustment, start }) => ({
      adjustmentId: adjustment.id,
      accountId: adjustment.accountId,
      periodStart: start,
      value: adjustment.value,
    })),
  );
}

/** What goes back, by the items of its charge in proportion; the last has what remains. */
export function uncreditedByItem(
  items: readonly PeriodItem[],
  of: (charge: PeriodCharge) => Uncredited,
): Map<PeriodItem, Uncredited> {
  const byItem = new Map<PeriodItem, Uncredited>();
  for (const charge of new Set(items.map((item) => item.charge))) {
    const own = items.filter((item) => item.charge === charge);
    const whole = of(charge);
    if (whole.onInvoice.isZero() && whole.returned.isZero()) continue;
    let left = whole;
    for (const item of own) {
      const partOf = (amount: Decimal): Decimal =>
        roundAmount(amount.times(item.amount).div(charge.amount));
      const part =
        item === own.at(-1)
          ? left
          : { onInvoice: partOf(whole.onInvoice), returned: partOf(whole.returned) };
      left = {
        onInvoice: left.onInvoice.minus(part.onInvoice),
        returned: left.returned.minus(part.returned),
      };
      byItem.set(item, part);
    }
  }
  return byItem;
}
