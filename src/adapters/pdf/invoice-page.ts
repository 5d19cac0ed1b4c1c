import { Decimal, roundToMinorUnit } from '../../kernel/numbers/money.js';
import type { PdfInvoice, PdfParty, PdfTax } from '../../messages/pdf-invoice.js';
import { drawItems } from './invoice-table.js';
import type { Formats } from './item-lines.js';
import { baseline, colours, lineHeight, page, Sheet, styles } from './sheet.js';
import type { PdfDocument } from './typesetter.js';
import { drawUsage } from './usage-appendix.js';

/** Draws an invoice on as many pages as it needs. */
export function drawInvoice(doc: PdfDocument, invoice: PdfInvoice): void {
  const sheet = new Sheet(doc, invoice.isVoid ? 'VOID' : null);
  drawHead(sheet, invoice);
  drawParties(sheet, invoice);
  const formats = formatsOf(invoice);
  const totals = totalsOf(invoice, formats.money);
  const payment = paymentLines(sheet, invoice);
  const height = Math.max(totalsHeight(totals), paymentHeight(payment));
  drawItems(sheet, invoice, formats, height);
  if (sheet.y + height > page.bottom) sheet.addPage();
  else sheet.y += spaceAbove;
  drawWords(sheet, invoice.credited ? 'Reason' : 'How to pay', payment);
  drawTotals(sheet, totals);
  drawUsage(sheet, invoice, formats);
  drawFooters(sheet, invoice);
}

function drawHead(sheet: Sheet, { title, invoiceNo, seller, isVoid }: PdfInvoice): void {
  const { type } = sheet;
  const titleStyle = { size: 18, colour: colours.text, isBold: true };
  const numberStyle = { size: 11, colour: colours.faint };
  const text = title.toUpperCase();
  const width = type.widthOf(text, titleStyle);
  type.drawRight(text, titleStyle, page.right, page.top + 18);
  type.drawRight(invoiceNo, numberStyle, page.right, page.top + 35);
  if (isVoid) {
    const voidStyle = { size: 11, colour: colours.alarm, isBold: true };
    type.drawRight('VOID', voidStyle, page.right, page.top + 50);
  }
  const nameStyle = { size: 15, colour: colours.text, isBold: true };
  const nameWidth = page.right - page.left - width - 24;
  const end = sheet.paragraph(seller.name, nameStyle, page.left, page.top + 2, nameWidth);
  sheet.y = Math.max(end, page.top + 42 + (isVoid ? 15 : 0)) + 24;
}

const partyWidth = 150;
/** Of a number or date in the column beside the parties. */
const factWidth = 108;
const gap = 18;

function drawParties(sheet: Sheet, invoice: PdfInvoice): void {
  const { buyer, seller, invoiceDate, dueDate, periodStart, periodEnd, currency, isCredit } =
    invoice;
  const { contractNumber, poNumber, credited } = invoice;
  const facts: (readonly [string, string])[] = [['Date', invoiceDate]];
  if (dueDate !== null) facts.push(['Due date', dueDate]);
  if (periodStart !== null && periodEnd !== null) {
    facts.push(['Period', `${periodStart} to ${periodEnd}`]);
  }
  if (credited !== null) facts.push(['Credit of', credited.invoiceNo]);
  if (contractNumber !== null) facts.push(['Contract', contractNumber]);
  if (poNumber !== null) facts.push(['Your order', poNumber]);
  facts.push(['Currency', currency]);
  const top = sheet.y;
  const ends = [
    drawParty(sheet, isCredit ? 'Credit to' : 'Bill to', buyer, page.left, top),
    drawParty(sheet, 'From', seller, page.left + partyWidth + gap, top),
  ];
  let y = top;
  const left = page.left + 2 * (partyWidth + gap);
  for (const [label, value] of facts) {
    sheet.type.draw(label, styles.faint, left, baseline(y, styles.faint));
    for (const line of sheet.type.linesOf(sheet.type.shown(value), styles.normal, factWidth)) {
      sheet.type.drawRight(line, styles.normal, page.right, baseline(y, styles.normal));
      y += lineHeight(styles.normal);
    }
    y += 3;
  }
  sheet.y = Math.max(...ends, y) + 24;
}

function drawParty(sheet: Sheet, label: string, party: PdfParty, x: number, top: number): number {
  sheet.type.draw(label, styles.label, x, baseline(top, styles.label));
  let y = top + lineHeight(styles.label) + 3;
  y = sheet.paragraph(party.name, styles.bold, x, y, partyWidth);
  for (const line of party.lines) y = sheet.paragraph(line, styles.normal, x, y, partyWidth);
  return y;
}

interface TotalLine {
  readonly label: string;
  readonly amount: string;
  /** The total, or what is left of it: with a rule above. */
  readonly isStrong?: boolean;
}

/** Whether a tax is that of the sum, too. */
const isProduct = ({ rate, base, tax }: PdfTax, minorDigits: number): boolean =>
  roundToMinorUnit(new Decimal(base).times(rate).div(100), minorDigits).eq(tax);

/** The lines below the items: what they come to, the taxes, what is paid and due. */
export function totalsOf(
  invoice: PdfInvoice,
  money: (text: string) => string,
): readonly TotalLine[] {
  const { amount, taxes, isCredit, isVoid, total, paid, due } = invoice;
  const isPaid = !isVoid && !isCredit && !new Decimal(paid).isZero();
  return [
    { label: 'Subtotal', amount: money(amount) },
    ...taxes.map(({ rate, base, tax }) => ({
      label: `Tax ${rate} % on ${money(base)}`,
      amount: money(tax),
    })),
    // Whoever multiplies has to know where the cents come from (docs/decisions/0104).
    ...(taxes.every((tax) => isProduct(tax, invoice.minorDigits))
      ? []
      : [{ label: 'Tax is computed and rounded for each item', amount: '' }]),
    { label: isCredit ? 'Total credit' : 'Total', amount: money(total), isStrong: true },
    ...(isPaid ? [{ label: 'Paid', amount: money(new Decimal(paid).negated().toFixed()) }] : []),
    ...(isVoid || isCredit ? [] : [{ label: 'Amount due', amount: money(due), isStrong: true }]),
  ];
}

const heightOf = ({ isStrong }: TotalLine): number => (isStrong === true ? 30 : 15);

/** Between the table and what is below it. */
const spaceAbove = 14;

/** Of all lines, with the space above. */
const totalsHeight = (lines: readonly TotalLine[]): number =>
  lines.reduce((height, line) => height + heightOf(line), spaceAbove);

function drawTotals(sheet: Sheet, lines: readonly TotalLine[]): void {
  const left = page.right - 236;
  for (const line of lines) {
    const isStrong = line.isStrong === true;
    if (isStrong) sheet.rule(left, sheet.y + 1, page.right - left, 1);
    const style = isStrong ? { size: 12, colour: colours.text, isBold: true } : styles.normal;
    const at = baseline(sheet.y + (isStrong ? 9 : 0), style);
    sheet.type.draw(line.label, isStrong ? style : styles.faint, left, at);
    sheet.type.drawRight(line.amount, style, page.right - 6, at);
    sheet.y += heightOf(line);
  }
}

/** Beside the totals. */
const paymentWidth = 236;

/**
 * How to pay: the account, what to name with it, and the words of the seller. Of a credit note against
 * an invoice, why it was credited.
 */
function paymentLines(
  { type }: Sheet,
  { payment, invoiceNo, dueDate, credited }: PdfInvoice,
): readonly string[] {
  if (credited) return type.linesOf(type.shown(credited.reason), styles.normal, paymentWidth);
  if (payment === null) return [];
  const { text, iban, bic } = payment;
  const lines = [
    ...(iban === null ? [] : [`IBAN ${iban.replace(/(.{4})(?=.)/g, '$1 ')}`]),
    ...(bic === null ? [] : [`BIC ${bic}`]),
    `Reference ${invoiceNo}${dueDate === null ? '' : `, by ${dueDate}`}`,
    ...(text === null ? [] : [text]),
  ];
  return lines.flatMap((line) => type.linesOf(type.shown(line), styles.normal, paymentWidth));
}

const paymentHeight = (lines: readonly string[]): number =>
  lines.length === 0
    ? 0
    : spaceAbove + lineHeight(styles.label) + 3 + lines.length * lineHeight(styles.normal);

function drawWords(sheet: Sheet, label: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  sheet.type.draw(label, styles.label, page.left, baseline(sheet.y, styles.label));
  let y = sheet.y + lineHeight(styles.label) + 3;
  for (const line of lines) {
    sheet.type.draw(line, styles.normal, page.left, baseline(y, styles.normal));
    y += lineHeight(styles.normal);
  }
}

function drawFooters({ doc, type }: Sheet, { title, invoiceNo, isVoid }: PdfInvoice): void {
  const { count } = doc.bufferedPageRange();
  const name = `${title} ${invoiceNo}${isVoid ? ' (void)' : ''}`;
  for (let index = 0; index < count; index += 1) {
    doc.switchToPage(index);
    type.forgetPage();
    type.draw(name, styles.label, page.left, 812);
    type.drawRight(`Page ${index + 1} of ${count}`, styles.label, page.right, 812);
  }
}

/** Amounts in the currency's own way, from exact text: 1,234.50 with its sign or code. */
function formatsOf({ currency, minorDigits }: PdfInvoice): Formats {
  const money = new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency,
    minimumFractionDigits: minorDigits,
    maximumFractionDigits: minorDigits,
  });
  const price = new Intl.NumberFormat('en-US', {
    minimumFractionDigits: minorDigits,
    maximumFractionDigits: 20,
  });
  const plain = new Intl.NumberFormat('en-US', { maximumFractionDigits: 20 });
  return {
    money: (text) => money.format(text as `${number}`),
    price: (text) => price.format(text as `${number}`),
    count: (text) => plain.format(text as `${number}`),
    minorDigits,
  };
}
