import type { PdfInvoice, PdfParty } from '../../kernel/pdf-invoice.js';
import { drawItems } from './invoice-table.js';
import { baseline, colours, lineHeight, page, Sheet, styles } from './sheet.js';
import type { PdfDocument } from './typesetter.js';

/** Draws an invoice on as many pages as it needs. */
export function drawInvoice(doc: PdfDocument, invoice: PdfInvoice): void {
  const sheet = new Sheet(doc, invoice.isVoid ? 'VOID' : null);
  drawHead(sheet, invoice);
  drawParties(sheet, invoice);
  const money = formatter(invoice);
  const { isCredit } = invoice;
  const totals = totalsOf(invoice, money);
  drawItems(sheet, invoice, money, totalsHeight(totals));
  drawTotals(sheet, totals, [isCredit ? 'Total credit' : 'Total', money(invoice.total)]);
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
const gap = 18;

function drawParties(sheet: Sheet, invoice: PdfInvoice): void {
  const { buyer, seller, invoiceDate, dueDate, periodStart, periodEnd, currency, isCredit } =
    invoice;
  const facts: (readonly [string, string])[] = [['Date', invoiceDate]];
  if (dueDate !== null) facts.push(['Due date', dueDate]);
  if (periodStart !== null && periodEnd !== null) {
    facts.push(['Period', `${periodStart} to ${periodEnd}`]);
  }
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
    sheet.type.drawRight(value, styles.normal, page.right, baseline(y, styles.normal));
    y += lineHeight(styles.normal) + 3;
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

type TotalLine = readonly [label: string, amount: string];

const totalsOf = (
  { amount, taxes }: PdfInvoice,
  money: (text: string) => string,
): readonly TotalLine[] => [
  ['Subtotal', money(amount)],
  ...taxes.map(({ rate, base, tax }) => [`Tax ${rate} % on ${money(base)}`, money(tax)] as const),
];

/** Of the lines and the total below them, with the space above. */
const totalsHeight = (lines: readonly TotalLine[]): number => 14 + lines.length * 15 + 34;

function drawTotals(sheet: Sheet, lines: readonly TotalLine[], [label, sum]: TotalLine): void {
  if (sheet.y + totalsHeight(lines) > page.bottom) sheet.addPage();
  else sheet.y += 14;
  const left = page.right - 236;
  for (const [name, amount] of lines) {
    const at = baseline(sheet.y, styles.normal);
    sheet.type.draw(name, styles.faint, left, at);
    sheet.type.drawRight(amount, styles.normal, page.right - 6, at);
    sheet.y += 15;
  }
  sheet.rule(left, sheet.y + 1, page.right - left, 1);
  const style = { size: 12, colour: colours.text, isBold: true };
  sheet.type.draw(label, style, left, baseline(sheet.y + 9, style));
  sheet.type.drawRight(sum, style, page.right - 6, baseline(sheet.y + 9, style));
  sheet.y += 32;
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
function formatter({ currency, minorDigits }: PdfInvoice): (text: string) => string {
  const format = new Intl.NumberFormat('en-US', {
    ...{ style: 'currency', currency },
    ...{ minimumFractionDigits: minorDigits, maximumFractionDigits: minorDigits },
  });
  return (text) => format.format(text as `${number}`);
}
