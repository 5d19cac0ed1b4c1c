import type { ChargedTier } from '../../kernel/numbers/charged-tier.js';
import type { BillingProblem } from '../../messages/billing-run.js';
import { Decimal, decimalText, ONE, roundToMinorUnit, ZERO } from '../../kernel/numbers/money.js';
import { seededId } from '../../kernel/id.js';
import { partOf, type Share } from '../../kernel/numbers/share.js';
import { taxOf } from '../../kernel/numbers/tax.js';
import { eachInPortions, mapInPortions, Portions } from '../../kernel/portions.js';
import type { Proration } from '../../rating/index.js';
import { referenceData } from '../../kernel/reference-data.js';
import type { TaxRates } from '../../queries/billing/tax-rate.js';
import { creditsByRate, type CreditsOfRate } from './credits-by-tax-rate.js';

/** A charge that becomes an item; its amount is not rounded yet, and is before discounts. */
export interface DraftCharge {
  readonly invoiceId: string;
  readonly itemId: string;
  readonly accountId: string;
  readonly currency: string;
  readonly usageType: string;
  /** Null of credits. */
  readonly serviceId: string | null;
  readonly contractId: string | null;
  /** Whether it is only of this contract. */
  readonly isOfOneContract: boolean;
  readonly contractServiceId: string | null;
  readonly dimensionId: string | null;
  readonly description: string;
  readonly volume: Decimal;
  /** What the volume counts. */
  readonly unit: string | null;
  readonly rate: Decimal | null;
  /** Where only a part of the period is charged. */
  readonly proration: Proration | null;
  readonly tiers: readonly ChargedTier[];
  readonly amount: Decimal;
  /** What discounts take off the amount. */
  readonly discounted: Decimal;
  /** What grants have paid of the amount. */
  readonly credited: Decimal;
  /** Where several accounts share it: the part that this is, and the exact amount of all. */
  readonly share: (Share & { readonly amount: Decimal }) | null;
  readonly taxCode: string | null;
  readonly chargeType: string;
  readonly priceMethod: string | null;
  readonly firstDate: string;
  readonly lastDate: string;
  readonly transactions: number;
  /** The invoice whose charges it corrects. */
  readonly correctedInvoiceId: string | null;
}

export interface DraftItem extends DraftCharge {
  /** Rounded to the currency's minor unit. */
  readonly rounded: Decimal;
  readonly isTaxExempt: boolean;
  readonly taxRate: Decimal | null;
  readonly tax: Decimal;
}

/** An invoice without its number. */
export interface InvoiceDraft {
  readonly id: string;
  readonly accountId: string;
  readonly contractId: string | null;
  readonly invoiceType: 'Invoice' | 'Credit Note';
  /** Whether its amounts have the opposite sign of the charges of which it is made. */
  readonly isReversed: boolean;
  readonly currency: string;
  readonly items: readonly DraftItem[];
  readonly amount: Decimal;
  readonly taxAmount: Decimal;
  readonly transactions: number;
}

/**
 * The invoices of charges: one for each account, currency and usage type. Payouts, and charges with
 * a sum below zero, become credit notes (docs/decisions/0271). Each item is rounded once, half away
 * from zero; its tax is computed from the rounded amount and rounded once, too. Exempt accounts pay
 * no tax.
 */
export async function draftInvoices(
  charges: readonly DraftCharge[],
  taxRates: TaxRates,
  exemptAccounts: ReadonlySet<string>,
): Promise<InvoiceDraft[]> {
  const byInvoice = new Map<string, DraftCharge[]>();
  for (const charge of charges) {
    const known = byInvoice.get(charge.invoiceId);
    if (known) known.push(charge);
    else byInvoice.set(charge.invoiceId, [charge]);
  }
  const drafts: InvoiceDraft[] = [];
  const portions = new Portions();
  for (const ofInvoice of byInvoice.values()) {
    const [first] = ofInvoice;
    if (!first) continue;
    const isExempt = exemptAccounts.has(first.accountId);
    drafts.push(await draftInvoice(first, ofInvoice, taxRates, isExempt));
    if (portions.isOver) await portions.rest();
  }
  return drafts;
}

async function draftInvoice(
  { invoiceId, accountId, currency, usageType, contractId }: DraftCharge,
  charges: readonly DraftCharge[],
  taxRates: TaxRates,
  isTaxExempt: boolean,
): Promise<InvoiceDraft> {
  const digits = referenceData.currency(currency)?.minorDigits ?? 2;
  const drafted = await mapInPortions(charges, (charge): DraftItem => {
    const { share } = charge;
    // The rounded parts of all accounts add up to the rounded amount of the whole.
    const rounded = share
      ? partOf(share.amount, share, digits)
      : roundToMinorUnit(charge.amount, digits);
    const isTaxed = charge.taxCode !== null && !isTaxExempt;
    const taxRate = isTaxed ? (taxRates.find(charge.taxCode) ?? null) : null;
    return { ...charge, rounded, isTaxExempt, taxRate, tax: taxOf(rounded, taxRate, digits) };
  });
  const isOfOne = charges.every(
    (charge) => charge.isOfOneContract && charge.contractId === contractId,
  );
  const afterDiscounts = await mapInPortions(drafted, (item) => withoutDiscount(item, digits));
  const credits = await creditsByRate(afterDiscounts, digits);
  const discounted = drafted.filter((item) => !item.discounted.isZero());
  const discounts = await creditsByRate(
    await mapInPortions(discounted, (item) => ({ ...item, credited: item.discounted })),
    digits,
  );
  drafted.push(
    ...discounts.flatMap((of) => reducingItem(of, 'Discount') ?? []),
    ...credits.flatMap((of) => reducingItem(of, 'Credits') ?? []),
  );
  let [amount, taxAmount] = [ZERO, ZERO];
  await eachInPortions(drafted, ({ rounded, tax }) => {
    amount = amount.plus(rounded);
    taxAmount = taxAmount.plus(tax);
  });
  const total = amount.plus(taxAmount);
  // An invoice is never negative: a negative sum becomes a credit note, and the reverse.
  const isReversed = total.isNegative() && !total.isZero();
  const items = isReversed ? await mapInPortions(drafted, reverseItem) : drafted;
  return {
    id: invoiceId,
    accountId,
    currency,
    items,
    isReversed,
    contractId: isOfOne ? contractId : null,
    invoiceType: (usageType === 'Payout') === isReversed ? 'Invoice' : 'Credit Note',
    amount: isReversed ? ZERO.minus(amount) : amount,
    taxAmount: isReversed ? ZERO.minus(taxAmount) : taxAmount,
    transactions: charges.reduce((count, { transactions }) => count + transactions, 0),
  };
}

/** An item as what its discounts leave of it, which is rounded and taxed as if it alone were billed. */
function withoutDiscount(item: DraftItem, digits: number): DraftItem {
  if (item.discounted.isZero()) return item;
  const amount = item.amount.minus(item.discounted);
  const rounded = roundToMinorUnit(amount, digits);
  return { ...item, amount, rounded, tax: taxOf(rounded, item.taxRate, digits) };
}

/** What discounts take off the items of a tax rate, or grants have paid of them, as an item below zero. */
function reducingItem(
  credits: CreditsOfRate<DraftItem>,
  chargeType: 'Discount' | 'Credits',
): DraftItem | undefined {
  const { key, items, exact, amount, tax } = credits;
  const [first] = items;
  if (!first) return undefined;
  const one = <T>(values: readonly T[]): T | null =>
    values.every((value) => value === values[0]) ? (values[0] ?? null) : null;
  const contractId = one(items.map((item) => item.contractId));
  return {
    ...first,
    contractId,
    tax: tax.negated(),
    itemId: seededId(first.invoiceId, `${chargeType}/${key}`),
    serviceId: null,
    isOfOneContract: items.every(({ isOfOneContract }) => isOfOneContract) && contractId !== null,
    contractServiceId: null,
    dimensionId: null,
    description: chargeType,
    share: null,
    // Minus one of what is paid: an e-invoice knows no price below zero.
    volume: ONE.negated(),
    unit: null,
    rate: amount,
    amount: exact.negated(),
    discounted: ZERO,
    credited: ZERO,
    rounded: amount.negated(),
    proration: null,
    tiers: [],
    taxCode: one(items.map(({ taxCode }) => taxCode)),
    chargeType,
    priceMethod: null,
    firstDate: items.reduce((least, { firstDate }) => min(least, firstDate), first.firstDate),
    lastDate: items.reduce((most, { lastDate }) => max(most, lastDate), first.lastDate),
    transactions: 0,
  };
}

const min = (a: string, b: string): string => (a < b ? a : b);
const max = (a: string, b: string): string => (a > b ? a : b);

/** An item with the opposite sign; what it counts stays. */
function reverseItem(item: DraftItem): DraftItem {
  const { amount, rounded, tax, rate, tiers } = item;
  const negative = (text: string): string => decimalText(new Decimal(text).negated());
  return {
    ...item,
    amount: amount.negated(),
    rounded: rounded.negated(),
    tax: tax.negated(),
    rate: rate?.negated() ?? null,
    tiers: tiers.map((tier) => ({
      ...tier,
      unitRate: negative(tier.unitRate),
      amount: negative(tier.amount),
    })),
  };
}

/** Items whose tax code no tax rate has: they are billed without tax, and each says so once. */
export function findMissingTaxRates(invoices: readonly InvoiceDraft[]): BillingProblem[] {
  const found = new Map<string, BillingProblem>();
  for (const { accountId, items } of invoices) {
    for (const item of items) {
      const { taxCode, taxRate, isTaxExempt } = item;
      if (taxCode === null || taxRate !== null || isTaxExempt) continue;
      const key = `${accountId}/${taxCode}`;
      if (found.has(key)) continue;
      found.set(key, {
        accountId,
        contractServiceId: item.contractServiceId,
        chargeType: item.chargeType,
        periodStart: item.firstDate,
        code: 'TAX_RATE_MISSING',
        message: `'${item.description}' has the tax code '${taxCode}', which no tax rate has: it is billed without tax. Add the rate (POST /v1/tax-rates), void the invoice and run the period again.`,
      });
    }
  }
  return [...found.values()];
}
