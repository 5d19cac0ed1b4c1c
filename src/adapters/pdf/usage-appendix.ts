import type { PdfInvoice } from '../../messages/pdf-invoice.js';
import type { Formats } from './item-lines.js';
import { baseline, colours, lineHeight, page, styles, type Sheet } from './sheet.js';

const headStyle = { size: 8, colour: colours.text, isBold: true };
const titleStyle = { size: 12, colour: colours.text, isBold: true };
const [textLeft, textWidth] = [page.left + 66, 250];
const volumeRight = page.right - 96;
const rowHeight = lineHeight(styles.normal) + 3;

/** The usage of each day behind the items, on pages of its own. */
export function drawUsage(sheet: Sheet, { usage }: PdfInvoice, { count, price }: Formats): void {
  if (usage === null || usage.length === 0) return;
  sheet.addPage();
  sheet.type.draw('Usage by day', titleStyle, page.left, baseline(sheet.y, titleStyle));
  sheet.y += lineHeight(titleStyle) + 6;
  drawHead(sheet);
  for (const { date, description, unit, volume, amount } of usage) {
    const [text = ''] = sheet.type.linesOf(
      sheet.type.shown(description.replaceAll('\n', ' ')),
      styles.normal,
      textWidth,
    );
    if (sheet.y + rowHeight > page.bottom) {
      sheet.addPage();
      drawHead(sheet);
    }
    const at = baseline(sheet.y, styles.normal);
    sheet.type.draw(date, styles.normal, page.left, at);
    sheet.type.draw(text, styles.normal, textLeft, at);
    const counted = unit === null ? count(volume) : `${count(volume)} ${unitText(unit)}`;
    sheet.type.drawRight(sheet.type.shown(counted), styles.normal, volumeRight, at);
    sheet.type.drawRight(price(amount), styles.normal, page.right, at);
    sheet.y += rowHeight;
  }
}

/** A name that nobody has given a label is at least written in words. */
export const unitText = (unit: string): string => unit.replaceAll('_', ' ');

function drawHead(sheet: Sheet): void {
  const at = baseline(sheet.y, headStyle);
  sheet.type.draw('Date', headStyle, page.left, at);
  sheet.type.draw('Description', headStyle, textLeft, at);
  sheet.type.drawRight('Quantity', headStyle, volumeRight, at);
  sheet.type.drawRight('Amount before rounding', headStyle, page.right, at);
  sheet.y += rowHeight;
  sheet.rule(page.left, sheet.y - 2, page.right - page.left, 0.5);
}
