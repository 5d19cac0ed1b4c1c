import { Decimal, roundToMinorUnit, ZERO } from '../../kernel/numbers/money.js';
import { mapInPortions } from '../../kernel/portions.js';
import { problem } from '../../kernel/problem.js';
import { referenceData } from '../../kernel/reference-data.js';
import type { CreditNoteItemRow } from '../../models/billing/credit-note.js';
import type { InvoiceItem } from '../../models/billing/invoice-item.js';
import type { Invoice } from '../../models/billing/invoice.js';
import type { CreditNoteCreate } from '../../schemas/billing/credit-note.js';
import type { ItemLeft } from './differences/credit-left.js';
import { amountText, requireMinorUnit } from '../rules/minor-unit.js';

/** What a note credits of an item of its invoice. */
export interface ItemCredit {
  readonly item: InvoiceItem;
  /** Without tax. */
  readonly amount: Decimal;
  readonly tax: Decimal;
}

/** What of the total of an invoice no note has credited. */
export const totalLeft = ({ amount, taxAmount, creditedAmount }: Invoice): Decimal =>
  new Decimal(amount).plus(taxAmount).minus(creditedAmount);

/**
 * What is credited of each item: what the request names, or all that is left. The tax is in proportion,
 * rounded to the minor unit; who credits the last of an item credits the tax that remains, so that
 * all notes together credit the tax to the cent. 400: an item is not of the invoice, or comes twice.
 * 409: more is credited than is left of an item.
 */
export async function creditOf(
  { currency, invoiceNo }: Pick<Invoice, 'currency' | 'invoiceNo'>,
  items: readonly InvoiceItem[],
  left: ReadonlyMap<string, ItemLeft>,
  named: CreditNoteCreate['items'],
): Promise<ItemCredit[]> {
  const leftOf = ({ id }: InvoiceItem): ItemLeft => left.get(id) ?? { amount: ZERO, tax: ZERO };
  if (named === undefined) {
    return items
      .map((item) => ({ item, ...leftOf(item) }))
      .filter(({ amount, tax }) => !amount.isZero() || !tax.isZero());
  }
  const digits = referenceData.currency(currency)?.minorDigits ?? 2;
  const byId = new Map(items.map((item) => [item.id, item]));
  const seen = new Set<string>();
  return mapInPortions(named, ({ itemId, amount }, index): ItemCredit => {
    const at = `items[${index}]`;
    const item = byId.get(itemId);
    if (!item) {
      const field = `${at}.itemId`;
      throw problem.validation(
        `'${field}' names no item of the invoice ${invoiceNo}: '${itemId}'`,
        {
          field,
          value: itemId,
        },
      );
    }
    if (seen.has(itemId)) {
      const field = `${at}.itemId`;
      throw problem.validation(`'${field}' must not come twice: '${itemId}'`, {
        field,
        value: itemId,
      });
    }
    seen.add(itemId);
    requireMinorUnit(amount, currency, `${at}.amount`);
    const rest = leftOf(item);
    if (amount.greaterThan(rest.amount)) {
      const field = `${at}.amount`;
      throw problem.conflict(
        `'${field}': only ${amountText(Decimal.max(rest.amount, 0), currency)} of the item '${item.description ?? itemId}' is left to credit, without tax.`,
        { field, value: amount },
      );
    }
    return { item, amount, tax: creditedTaxOf(item, amount, rest, digits) };
  });
}

/** The tax on what is credited of an item: in proportion to the tax that was charged. */
function creditedTaxOf(
  item: InvoiceItem,
  amount: Decimal,
  rest: ItemLeft,
  digits: number,
): Decimal {
  if (amount.equals(rest.amount)) return rest.tax;
  const inProportion = roundToMinorUnit(
    new Decimal(item.tax).times(amount).div(item.amount),
    digits,
  );
  // Cents that were rounded up before are not credited again.
  return Decimal.min(inProportion, rest.tax);
}

/** 409: nothing is left of the invoice, or, where items below zero are not credited too, less. */
export function requireRest(invoice: Invoice, total: Decimal, left: Decimal): void {
  if (total.greaterThan(0) && total.lessThanOrEqualTo(left)) return;
  const { invoiceNo, currency } = invoice;
  throw problem.conflict(
    total.greaterThan(0)
      ? `Only ${amountText(left, currency)} of the invoice '${invoiceNo}' is left to credit, with tax: ${amountText(total, currency)} is more.`
      : `Nothing of the invoice '${invoiceNo}' is left to credit.`,
    { field: 'items' },
  );
}

/**
 * The item of a note: what was charged, where all of it is credited; one of the amount, where a part
 * is, because no quantity would be right.
 */
export function itemOfNote(
  { item, amount, tax }: ItemCredit,
  invoiceId: string,
  id: string,
  position: number,
): CreditNoteItemRow {
  const isWhole = amount.equals(item.amount);
  return {
    id,
    invoiceId,
    position,
    amount,
    tax,
    serviceId: item.serviceId,
    serviceName: item.serviceName,
    serviceCode: item.serviceCode,
    contractServiceId: item.contractServiceId,
    dimensionId: item.dimensionId,
    description: item.description,
    volume: isWhole ? new Decimal(item.volume) : new Decimal(1),
    unit: isWhole ? item.unit : null,
    ratePerUnit: isWhole ? decimalOrNull(item.ratePerUnit) : amount,
    chargedDays: isWhole ? item.chargedDays : null,
    periodDays: isWhole ? item.periodDays : null,
    tiers: isWhole && item.tiers !== null ? JSON.stringify(item.tiers) : null,
    exactAmount: isWhole ? decimalOrNull(item.exactAmount) : amount,
    taxCode: item.taxCode,
    taxRate: decimalOrNull(item.taxRate),
    chargeType: item.chargeType,
    priceMethodType: isWhole ? item.priceMethodType : null,
    billStartDate: item.billStartDate,
    billEndDate: item.billEndDate,
    creditedItemId: item.id,
  };
}

const decimalOrNull = (text: string | null): Decimal | null =>
  text === null ? null : new Decimal(text);
