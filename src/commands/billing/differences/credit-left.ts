import type { Knex } from 'knex';
import { Decimal, roundToMinorUnit, sum, ZERO } from '../../../kernel/numbers/money.js';
import { referenceData } from '../../../kernel/reference-data.js';
import {
  BilledDifference,
  familyKey,
  nothingBack,
  plusBack,
  type GivenBack,
  type ItemFamily,
} from '../../../models/billing/billed-difference.js';
import {
  readCreditedPeriods,
  type CreditedPeriod,
} from '../../../models/billing/adjustments/credited-period.js';
import type { InvoiceItem } from '../../../models/billing/invoice-item.js';
import type { Invoice } from '../../../models/billing/invoice.js';
import { discountType } from '../../../queries/billing/adjustments/charge-discounts.js';
import { creditsType } from '../../../queries/balances/charge-credits.js';
import { readWaitingDifferences } from '../../../queries/billing/unbilled-usage.js';

/** What of an item can be credited. */
export interface ItemLeft {
  readonly amount: Decimal;
  readonly tax: Decimal;
}

/**
 * What of the items of an invoice no note has credited and no correction has given back, or will when the
 * next invoice is made (spec/beyond.md R313).
 */
export async function readCreditLeft(
  trx: Knex.Transaction,
  tenantId: string,
  { id, accountId, currency }: Pick<Invoice, 'id' | 'accountId' | 'currency'>,
  items: readonly InvoiceItem[],
): Promise<ReadonlyMap<string, ItemLeft>> {
  const digits = referenceData.currency(currency)?.minorDigits ?? 2;
  const given = new Map<string, GivenBack>();
  const add = (family: ItemFamily, back: GivenBack): void => {
    const key = familyKey(family);
    given.set(key, plusBack(given.get(key) ?? nothingBack, back));
  };
  const billed = await BilledDifference.families(trx, tenantId, {
    invoiceIds: [id],
    accountIds: [],
  });
  for (const family of billed) {
    add(family, plusBack(family.differences, family.creditedBefore));
  }
  for (const group of await readWaitingDifferences(trx, tenantId, accountId)) {
    if (group.correctedInvoiceId !== id) continue;
    const { amount, discounted, credited } = group;
    add(group, {
      amount: new Decimal(amount),
      discounted: new Decimal(discounted),
      credited: new Decimal(credited),
    });
  }
  const periods = await readCreditedPeriods(trx, tenantId, {
    periods: [],
    invoiceId: id,
    accountIds: [],
  });
  return leftOf(items, given, digits, takenOffPeriods(items, periods));
}

/** What later invoices have taken off the top-ups and true-ups of an invoice, by item. */
function takenOffPeriods(
  items: readonly InvoiceItem[],
  periods: readonly CreditedPeriod[],
): ReadonlyMap<string, { readonly key: string; readonly amount: Decimal }> {
  const found = new Map<string, { key: string; amount: Decimal }>();
  const byId = new Map(items.map((item) => [item.id, item]));
  for (const { adjustmentId, start, charged, lowered, noted, before, ...period } of periods) {
    const ids = new Set(period.items.map(({ itemId }) => itemId));
    const own = [...ids].flatMap((id) => byId.get(id) ?? []);
    const open = sum(
      own.map(({ amount, creditedAmount }) => new Decimal(amount).minus(creditedAmount)),
    );
    const back = new Decimal(lowered).minus(sum(before.map(({ amount }) => new Decimal(amount))));
    const left = new Decimal(charged).minus(noted).minus(back);
    const amount = Decimal.max(open.minus(Decimal.max(left, ZERO)), ZERO);
    for (const item of own) found.set(item.id, { key: `${adjustmentId}/${start}`, amount });
  }
  return found;
}

function leftOf(
  items: readonly InvoiceItem[],
  given: ReadonlyMap<string, GivenBack>,
  digits: number,
  ofPeriods: ReturnType<typeof takenOffPeriods>,
): ReadonlyMap<string, ItemLeft> {
  /** What is still to be taken off items, by what they have in common. */
  const lowered = new Map<string, Decimal>();
  for (const { key, amount } of ofPeriods.values()) lowered.set(key, amount);
  const lower = (key: string, amount: Decimal): void => {
    lowered.set(key, (lowered.get(key) ?? ZERO).plus(Decimal.max(amount.negated(), ZERO)));
  };
  const seen = new Set<string>();
  for (const item of items) {
    const key = familyKey(item);
    const back = given.get(key);
    if (item.chargeType !== 'Usage' || !back || seen.has(key)) continue;
    seen.add(key);
    lower(key, back.amount);
    lower(rateKey(discountType, item), back.discounted);
    lower(rateKey(creditsType, item), back.credited);
  }
  return new Map(
    items.map((item) => {
      const key =
        item.chargeType === 'Usage'
          ? familyKey(item)
          : (ofPeriods.get(item.id)?.key ?? rateKey(item.chargeType, item));
      const own = new Decimal(item.amount).minus(item.creditedAmount);
      const ownTax = new Decimal(item.tax).minus(item.creditedTax);
      const open = roundToMinorUnit(lowered.get(key) ?? ZERO, digits);
      const taken = Decimal.min(open, own.abs());
      if (taken.isZero()) return [item.id, { amount: own, tax: ownTax }];
      lowered.set(key, open.minus(taken));
      const amount = own.minus(own.isNegative() ? taken.negated() : taken);
      const part = roundToMinorUnit(
        new Decimal(item.tax).times(taken).div(new Decimal(item.amount).abs()),
        digits,
      );
      const tax = amount.isZero() ? ZERO : ownTax.minus(part);
      return [item.id, { amount, tax }];
    }),
  );
}

/** Items of discounts and credits are one for each tax rate. */
const rateKey = (chargeType: string, { taxRate }: Pick<InvoiceItem, 'taxRate'>): string =>
  `${chargeType}/${taxRate === null ? '' : new Decimal(taxRate).toFixed()}`;
