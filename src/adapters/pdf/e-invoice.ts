import { Decimal, decimalText, roundToMinorUnit } from '../../kernel/numbers/money.js';
import type { PdfInvoice, PdfItem, PdfParty } from '../../messages/pdf-invoice.js';

/**
 * An invoice as EN 16931 has it, in the syntax of UN/CEFACT's Cross Industry Invoice; null where it
 * lacks what the standard demands, which is never made up (docs/decisions/0121).
 */
export function eInvoiceXml(invoice: PdfInvoice): string | null {
  return isFit(invoice) ? documentOf(invoice) : null;
}

/** Rules of EN 16931 whose facts a tenant may not have given, by their names in it. */
function isFit(invoice: PdfInvoice): boolean {
  const { seller, buyer, dueDate, isCredit, minorDigits, isVoid, items, taxes } = invoice;
  return (
    !isVoid &&
    items.length > 0 &&
    // BR-9, BR-11: the countries; BR-S-2: the seller's VAT identifier.
    [seller.country, seller.vatId, buyer.country].every(isGiven) &&
    // BR-CO-25: a due date, or terms in words, which a credit note has.
    (dueDate !== null || isCredit) &&
    // BR-DEC: amounts have at most two decimals.
    minorDigits <= 2 &&
    // BR-25, BR-CO-4. What is not taxed may be exempt, of reverse charge or zero rated: who knows?
    items.every(({ description, taxRate }) => isGiven(description) && isTaxed(taxRate)) &&
    // BR-CO-17: taxes that are rounded by item may be a little beside the tax of the sum.
    taxes.every(({ rate, base, tax }) => {
      const whole = roundToMinorUnit(new Decimal(base).times(rate).dividedBy(100), 2);
      return whole.minus(tax).abs().lessThan(1);
    })
  );
}

const isGiven = (text: string | null): boolean => text !== null && text.trim() !== '';
const isTaxed = (rate: string | null): boolean => rate !== null && new Decimal(rate).greaterThan(0);

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
/** Signs that XML may not hold are left out. */
const unfit = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
const text = (value: string): string =>
  value.replace(unfit, '').replace(/[&<>]/g, (sign) => escapes[sign] ?? sign);

/** An amount without zeros at its end, of which there might be too many. */
const plain = (amount: string): string => decimalText(new Decimal(amount));

const element = (name: string, content: string, attribute = ''): string =>
  `<${name}${attribute}>${content}</${name}>`;
const ram = (name: string, value: string | null, attribute = ''): string =>
  value === null || value.trim() === '' ? '' : element(`ram:${name}`, text(value), attribute);
/** An element with others in it. */
const group = (name: string, ...parts: readonly string[]): string =>
  element(`ram:${name}`, parts.join(''));
const day = (name: string, date: string): string =>
  group(name, element('udt:DateTimeString', date.replaceAll('-', ''), ' format="102"'));
const period = (from: string | null, to: string | null): string =>
  from === null || to === null
    ? ''
    : group('BillingSpecifiedPeriod', day('StartDateTime', from), day('EndDateTime', to));

const namespaces =
  ' xmlns:rsm="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100"' +
  ' xmlns:ram="urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100"' +
  ' xmlns:udt="urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100"';

function documentOf(invoice: PdfInvoice): string {
  const { invoiceNo, invoiceDate, isCredit, items, seller, buyer } = invoice;
  const context = group(
    'GuidelineSpecifiedDocumentContextParameter',
    ram('ID', 'urn:cen.eu:en16931:2017'),
  );
  const head = [
    ram('ID', invoiceNo),
    // UNTDID 1001: commercial invoice, credit note.
    ram('TypeCode', isCredit ? '381' : '380'),
    day('IssueDateTime', invoiceDate),
  ];
  const transaction = [
    ...items.map(lineOf),
    group(
      'ApplicableHeaderTradeAgreement',
      partyOf('SellerTradeParty', seller),
      partyOf('BuyerTradeParty', buyer),
      referenceOf('BuyerOrderReferencedDocument', invoice.poNumber),
      referenceOf('ContractReferencedDocument', invoice.contractNumber),
    ),
    '<ram:ApplicableHeaderTradeDelivery/>',
    settlementOf(invoice),
  ];
  const content = [
    element('rsm:ExchangedDocumentContext', context),
    element('rsm:ExchangedDocument', head.join('')),
    element('rsm:SupplyChainTradeTransaction', transaction.join('')),
  ];
  const root = element('rsm:CrossIndustryInvoice', content.join(''), namespaces);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root}\n`;
}

function partyOf(name: string, party: PdfParty): string {
  const { street, street2, zipCode, city, country, vatId, registration } = party;
  return group(
    name,
    ram('Name', party.name),
    isGiven(registration) ? group('SpecifiedLegalOrganization', ram('ID', registration)) : '',
    group(
      'PostalTradeAddress',
      ram('PostcodeCode', zipCode),
      ram('LineOne', street),
      ram('LineTwo', street2),
      ram('CityName', city),
      ram('CountryID', country),
    ),
    isGiven(vatId) ? group('SpecifiedTaxRegistration', ram('ID', vatId, ' schemeID="VA"')) : '',
  );
}

/** Standard rated: the only category that the data of an invoice prove. */
const category = (rate: string): readonly string[] => [
  ram('CategoryCode', 'S'),
  ram('RateApplicablePercent', rate),
];

/**
 * Quantity and price where they make the amount; where they do not (graduated and computed prices,
 * parts of a period), one at the whole price, and the quantity among the text.
 */
function priceOf({ amount, volume, rate }: PdfItem): { quantity: string; price: string } {
  const isProduct =
    rate !== null &&
    new Decimal(rate).greaterThanOrEqualTo(0) &&
    new Decimal(volume).times(rate).minus(amount).abs().lessThanOrEqualTo('0.01');
  if (isProduct) return { quantity: volume, price: rate };
  const whole = new Decimal(amount);
  // A price is never below zero (BR-27); the quantity may be.
  return { quantity: whole.isNegative() ? '-1' : '1', price: decimalText(whole.abs()) };
}

function lineOf(item: PdfItem, index: number): string {
  const { description, detail, from, to, volume, taxRate, amount } = item;
  const { quantity, price } = priceOf(item);
  const about = [detail, quantity === volume ? '' : `Quantity: ${volume}`];
  return group(
    'IncludedSupplyChainTradeLineItem',
    group('AssociatedDocumentLineDocument', ram('LineID', String(index + 1))),
    group(
      'SpecifiedTradeProduct',
      ram('Name', description),
      ram('Description', about.filter((part) => part !== '').join('; ')),
    ),
    group(
      'SpecifiedLineTradeAgreement',
      group('NetPriceProductTradePrice', ram('ChargeAmount', price)),
    ),
    // UN/ECE Recommendation 20: one.
    group('SpecifiedLineTradeDelivery', ram('BilledQuantity', quantity, ' unitCode="C62"')),
    group(
      'SpecifiedLineTradeSettlement',
      group('ApplicableTradeTax', ram('TypeCode', 'VAT'), ...category(taxRate ?? '')),
      period(from, to),
      group('SpecifiedTradeSettlementLineMonetarySummation', ram('LineTotalAmount', plain(amount))),
    ),
  );
}

const referenceOf = (name: string, number: string | null): string =>
  isGiven(number) ? group(name, ram('IssuerAssignedID', number)) : '';

/** UNTDID 4461: 58 is a SEPA credit transfer. */
function paymentOf({ payment, isCredit }: PdfInvoice): string {
  const { iban = null, bic = null } = payment ?? {};
  if (iban === null || isCredit) return '';
  return group(
    'SpecifiedTradeSettlementPaymentMeans',
    ram('TypeCode', '58'),
    group('PayeePartyCreditorFinancialAccount', ram('IBANID', iban)),
    bic === null ? '' : group('PayeeSpecifiedCreditorFinancialInstitution', ram('BICID', bic)),
  );
}

/** What a credit note says in place of a due date. */
const creditTerms = 'Credited to the account; nothing is to be paid.';

function settlementOf(invoice: PdfInvoice): string {
  const { currency, taxes, amount, taxAmount, total, dueDate, periodStart, periodEnd } = invoice;
  const { paid, due, isCredit, credited } = invoice;
  return group(
    'ApplicableHeaderTradeSettlement',
    ram('InvoiceCurrencyCode', currency),
    paymentOf(invoice),
    ...taxes.map(({ rate, base, tax }) =>
      group(
        'ApplicableTradeTax',
        ram('CalculatedAmount', plain(tax)),
        ram('TypeCode', 'VAT'),
        ram('BasisAmount', plain(base)),
        ...category(rate),
      ),
    ),
    period(periodStart, periodEnd),
    group(
      'SpecifiedTradePaymentTerms',
      dueDate === null ? ram('Description', creditTerms) : day('DueDateDateTime', dueDate),
    ),
    group(
      'SpecifiedTradeSettlementHeaderMonetarySummation',
      ram('LineTotalAmount', plain(amount)),
      ram('TaxBasisTotalAmount', plain(amount)),
      ram('TaxTotalAmount', plain(taxAmount), ` currencyID="${currency}"`),
      ram('GrandTotalAmount', plain(total)),
      new Decimal(paid).isZero() ? '' : ram('TotalPrepaidAmount', plain(paid)),
      ram('DuePayableAmount', plain(isCredit ? total : due)),
    ),
    // BT-25: the invoice that a credit note is against.
    referenceOf('InvoiceReferencedDocument', credited?.invoiceNo ?? null),
  );
}
