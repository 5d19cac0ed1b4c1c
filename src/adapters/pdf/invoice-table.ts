import type { PdfInvoice, PdfItem } from '../../messages/pdf-invoice.js';
import { linesOfItem, priceText, type Formats } from './item-lines.js';
import { baseline, colours, lineHeight, page, styles, type Sheet } from './sheet.js';
import type { TextStyle } from './typesetter.js';
import { unitText } from './usage-appendix.js';

interface Column {
  readonly head: string;
  readonly texts: readonly string[];
  /** Its right end, without padding. */
  right: number;
  width: number;
}

const padding = { side: 6, top: 5 } as const;
const headHeight = 21;
const rowHeightMax = page.bottom - page.top - headHeight;
/** Of a column of numbers: longer ones, with all their digits, are broken. */
const numberWidthMax = 110;
/** Units of one invoice that are measured. */
const unitsMax = 100;

/**
 * Draws the items as a table whose head is repeated on every page. The last one leaves room for what
 * comes below the table: that never stands alone on a page.
 */
export function drawItems(
  sheet: Sheet,
  invoice: PdfInvoice,
  formats: Formats,
  heightBelow: number,
): void {
  const columns = columnsOf(sheet, invoice, formats);
  const left = (columns[0]?.right ?? page.right) - (columns[0]?.width ?? 0);
  const width = left - page.left - 3 * padding.side;
  drawHead(sheet, columns);
  for (const [index, item] of invoice.items.entries()) {
    const below = index === invoice.items.length - 1 ? heightBelow : 0;
    drawRow(sheet, columns, index, descriptionLines(sheet, item, width, formats), below);
  }
  sheet.rule(page.left, sheet.y - 0.5, page.right - page.left, 1);
}

/** The columns of numbers, placed from the right: each as wide as its widest text. */
function columnsOf(sheet: Sheet, invoice: PdfInvoice, formats: Formats): Column[] {
  const { items, taxes } = invoice;
  const column = (head: string, textOf: (item: PdfItem) => string): Column => {
    const texts = items.map(textOf);
    // Of numbers the longest text is the widest, or nearly; of words each is measured.
    const words = head === 'Unit' ? [...new Set(texts)].slice(0, unitsMax) : [];
    const longest = texts.reduce((a, b) => (b.length > a.length ? b : a), '');
    const widest = Math.max(
      sheet.type.widthOf(head, headStyle),
      ...words.map((word) => sheet.type.widthOf(word, styles.normal)),
      sheet.type.widthOf(longest.replace(/\d/g, '0'), styles.normal),
    );
    return { head, texts, right: 0, width: Math.min(Math.ceil(widest), numberWidthMax) };
  };
  const columns = [
    column('Quantity', ({ volume }) => formats.count(volume)),
    ...(items.some(({ unit }) => unit !== null)
      ? [column('Unit', ({ unit }) => sheet.type.shown(unitText(unit ?? '')))]
      : []),
    column('Unit price', (item) => priceText(item, formats)),
    ...(taxes.length === 0
      ? []
      : [column('Tax', ({ taxRate }) => (taxRate === null ? '' : `${taxRate} %`))]),
    column('Amount', ({ amount }) => formats.money(amount)),
  ];
  let right = page.right - padding.side;
  for (const each of [...columns].reverse()) {
    each.right = right;
    right -= each.width + 2 * padding.side;
  }
  return columns;
}

const headStyle = { size: 8, colour: colours.text, isBold: true };

function drawHead(sheet: Sheet, columns: readonly Column[]): void {
  const y = sheet.y;
  sheet.doc.rect(page.left, y, page.right - page.left, headHeight).fill(colours.head);
  sheet.type.forgetPage();
  const at = baseline(y + 6, headStyle);
  sheet.type.draw('Description', headStyle, page.left + padding.side, at);
  for (const { head, right } of columns) sheet.type.drawRight(head, headStyle, right, at);
  sheet.y = y + headHeight;
}

interface TextLine {
  readonly text: string;
  readonly style: TextStyle;
}

function descriptionLines(
  { type }: Sheet,
  item: PdfItem,
  width: number,
  formats: Formats,
): TextLine[] {
  const { description, detail, from, to } = item;
  const days = from === null || to === null ? '' : from === to ? from : `${from} to ${to}`;
  // The days first: after a name in Arabic or Hebrew they would be read from the right.
  const below = [days, detail].filter((text) => text !== '').join('  ·  ');
  const lines = (text: string, style: TextStyle): TextLine[] =>
    text === ''
      ? []
      : type.linesOf(type.shown(text), style, width).map((line) => ({ text: line, style }));
  const parts = linesOfItem(item, formats).flatMap((text) => lines(text, styles.small));
  return [...lines(description, styles.normal), ...lines(below, styles.small), ...parts];
}

/** A row stays on one page, unless it is longer than a page. */
function drawRow(
  sheet: Sheet,
  columns: readonly Column[],
  index: number,
  description: readonly TextLine[],
  heightBelow: number,
): void {
  const { type } = sheet;
  const numbers = columns.map(({ texts, right, width }) => {
    const text = texts[index] ?? '';
    return { right, lines: type.linesOf(text, styles.normal, width) };
  });
  const lineCount = Math.max(1, ...numbers.map(({ lines }) => lines.length));
  const textHeight = description.reduce((height, { style }) => height + lineHeight(style), 0);
  const height = Math.max(textHeight, lineCount * lineHeight(styles.normal)) + 2 * padding.top;
  const isFirst = sheet.y === page.top + headHeight;
  if (!isFirst && sheet.y + height + heightBelow > page.bottom && height <= rowHeightMax) {
    sheet.addPage();
    drawHead(sheet, columns);
  }
  const top = sheet.y + padding.top;
  for (const { right, lines } of numbers) {
    lines.forEach((line, number) => {
      const y = top + number * lineHeight(styles.normal);
      type.drawRight(line, styles.normal, right, baseline(y, styles.normal));
    });
  }
  let y = top;
  for (const { text, style } of description) {
    if (y + lineHeight(style) > page.bottom) {
      sheet.addPage();
      drawHead(sheet, columns);
      y = sheet.y + padding.top;
    }
    type.draw(text, style, page.left + padding.side, baseline(y, style));
    y += lineHeight(style);
  }
  sheet.y = Math.max(y, top + lineCount * lineHeight(styles.normal)) + padding.top;
  sheet.rule(page.left, sheet.y - 0.25, page.right - page.left, 0.5);
}
