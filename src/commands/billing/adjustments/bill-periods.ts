import type { Knex } from 'knex';
import { seededId } from '../../../kernel/id.js';
import {
  Decimal,
  decimalText,
  ONE,
  roundToMinorUnit,
  ZERO,
} from '../../../kernel/numbers/money.js';
import { mapInPortions } from '../../../kernel/portions.js';
import { referenceData } from '../../../kernel/reference-data.js';
import { dayBefore } from '../../../kernel/time/date.js';
import { periodOf } from '../../../kernel/time/period.js';
import {
  AdjustmentCharge,
  type AdjustmentChargeRow,
} from '../../../models/billing/adjustments/adjustment-charge.js';
import { keepAdjustedPeriods } from '../../../models/billing/adjustments/adjusted-period.js';
import type { DraftCharge } from '../invoice-draft.js';
import type { PeriodCharge } from './period-charges.js';
import type { Uncredited } from './period-credits.js';

const chargeTypes = { maximum: 'Maximum', minimum: 'Minimum', commitment: 'Commitment' } as const;

/** A part of a period's charge that becomes an item, by its tax code. */
export interface PeriodItem {
  readonly charge: PeriodCharge;
  readonly taxCode: string | null;
  readonly amount: Decimal;
  /** Of what is billed of the charge. */
  readonly share: Decimal;
  readonly invoiceId: string;
  readonly itemId: string;
  readonly chargeId: string;
}

/**
 * The items of what adjustments bill, with the ids that a run gives them; those of 0, too: credits may have to
 * go back although nothing is billed.
 */
export async function periodItems(
  charges: readonly PeriodCharge[],
  seed: string,
): Promise<PeriodItem[]> {
  const items = await mapInPortions(charges, (charge) => {
    const { adjustment, start } = charge;
    const invoiceId = seededId(seed, `${adjustment.accountId}${adjustment.currency}Charge`);
    return charge.parts.map((part, index) => {
      const itemId = seededId(invoiceId, `${adjustment.id}/${start}/${index}`);
      return { charge, ...part, invoiceId, itemId, chargeId: seededId(itemId, 'charge') };
    });
  });
  return items.flat();
}

/** Items without those of which nothing is billed and no credit goes back. */
export const shownItems = (
  items: readonly PeriodItem[],
  uncredited: ReadonlyMap<PeriodItem, Uncredited>,
): PeriodItem[] => items.filter((item) => !item.amount.isZero() || uncredited.has(item));

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
  const rows = await mapInPortions(items, (item): AdjustmentChargeRow => {
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
