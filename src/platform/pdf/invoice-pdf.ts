import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import pdfmake from 'pdfmake';
import type { Content, TableCell, TDocumentDefinitions } from 'pdfmake/interfaces.js';
import type { PdfInvoice } from '../../kernel/pdf-invoice.js';
import { textRuns } from './text-runs.js';

const require = createRequire(import.meta.url);
const latin = join(dirname(require.resolve('pdfmake/package.json')), 'fonts', 'Roboto');
const fontOf = (main: string, file: string): string => join(dirname(main), '..', 'fonts', file);
// Large, so that one weight of each has to do.
const han = fontOf(require.resolve('@embedpdf/fonts-sc'), 'NotoSansHans-Regular.otf');
const hangul = fontOf(require.resolve('@embedpdf/fonts-kr'), 'NotoSansKR-Regular.otf');
const fonts = {
  Latin: { normal: join(latin, 'Roboto-Regular.ttf'), bold: join(latin, 'Roboto-Medium.ttf') },
  Han: { normal: han, bold: han },
  Hangul: { normal: hangul, bold: hangul },
};
const fontPaths = new Set(Object.values(fonts).flatMap(({ normal, bold }) => [normal, bold]));

pdfmake.setFonts(fonts);
pdfmake.setUrlAccessPolicy(() => false);
pdfmake.setLocalAccessPolicy((path) => fontPaths.has(path));

const colours = { text: '#1f2933', faint: '#616e7c', line: '#cbd2d9', head: '#f0f4f8' };

/** Text of customers and catalogs, in whatever script. */
const spoken = (text: string): Content => ({ text: textRuns(text).map((run) => ({ ...run })) });

/** Renders an invoice: the same bytes for the same invoice. */
export async function renderInvoicePdf(invoice: PdfInvoice): Promise<Buffer> {
  return pdfmake.createPdf(documentOf(invoice)).getBuffer();
}

function documentOf(invoice: PdfInvoice): TDocumentDefinitions {
  const { title, invoiceNo, invoiceDate } = invoice;
  // The clock must not be in the file.
  const date = new Date(`${invoiceDate}T00:00:00Z`);
  return {
    pageSize: 'A4',
    pageMargins: [48, 48, 48, 56],
    info: { title: `${title} ${invoiceNo}`, creationDate: date, modDate: date },
    defaultStyle: { font: 'Latin', fontSize: 9, color: colours.text, lineHeight: 1.15 },
    footer: (page, pages) => ({
      columns: [
        { text: `${title} ${invoiceNo}` },
        { text: `Page ${page} of ${pages}`, alignment: 'right' },
      ],
      margin: [48, 20, 48, 0],
      fontSize: 8,
      color: colours.faint,
    }),
    content: [headOf(invoice), partiesOf(invoice), itemsOf(invoice), totalsOf(invoice)],
  };
}

function headOf({ title, invoiceNo, seller }: PdfInvoice): Content {
  const [name = ''] = seller;
  return {
    columns: [
      { ...textOf(spoken(name)), fontSize: 15, bold: true },
      {
        stack: [
          { text: title.toUpperCase(), fontSize: 18, bold: true, characterSpacing: 1 },
          { text: invoiceNo, fontSize: 11, color: colours.faint },
        ],
        alignment: 'right',
      },
    ],
    margin: [0, 0, 0, 28],
  };
}

/** The parts of a text node, to be given more style. */
const textOf = (content: Content): { text: Content } => content as { text: Content };

function partiesOf(invoice: PdfInvoice): Content {
  const { buyer, seller, invoiceDate, dueDate, periodStart, periodEnd, currency } = invoice;
  const facts: [string, string][] = [
    ['Date', invoiceDate],
    ...(dueDate === null ? [] : [['Due date', dueDate] satisfies [string, string]]),
    ...(periodStart === null || periodEnd === null
      ? []
      : [['Period', `${periodStart} to ${periodEnd}`] satisfies [string, string]]),
    ['Currency', currency],
  ];
  const party = (label: string, [name = '', ...lines]: readonly string[]): Content => ({
    stack: [
      { text: label, fontSize: 8, color: colours.faint, margin: [0, 0, 0, 3] },
      { ...textOf(spoken(name)), bold: true },
      ...lines.map(spoken),
    ],
  });
  return {
    columns: [
      party('Bill to', buyer),
      party('From', seller),
      {
        width: 'auto',
        layout: 'noBorders',
        table: {
          body: facts.map(([label, value]) => [
            { text: label, color: colours.faint, noWrap: true },
            { text: value, ...number },
          ]) as TableCell[][],
        },
      },
    ],
    columnGap: 24,
    margin: [0, 0, 0, 28],
  };
}

const small = { fontSize: 7.5, color: colours.faint };
const number = { alignment: 'right', noWrap: true };

function itemsOf(invoice: PdfInvoice): Content {
  const money = formatter(invoice);
  const hasTax = invoice.items.some(({ taxRate }) => taxRate !== null);
  const head = ['Description', 'Quantity', 'Unit price', ...(hasTax ? ['Tax'] : []), 'Amount'];
  const rows = invoice.items.map((item): TableCell[] => {
    const { description, detail, from, to, volume, rate, taxRate, amount } = item;
    const days = from === null || to === null ? '' : from === to ? from : `${from} to ${to}`;
    const below = [detail, days].filter((text) => text !== '').join('  ·  ');
    return [
      {
        text: [
          ...textRuns(description),
          ...textRuns(below === '' ? '' : `\n${below}`).map((run) => ({ ...run, ...small })),
        ],
      },
      { text: grouped(volume), ...number },
      { text: rate === null ? '' : grouped(rate), ...number },
      ...(hasTax ? [{ text: taxRate === null ? '' : `${taxRate} %`, ...number }] : []),
      { text: money(amount), ...number },
    ] as TableCell[];
  });
  return {
    table: {
      headerRows: 1,
      dontBreakRows: true,
      widths: ['*', 'auto', 'auto', ...(hasTax ? ['auto'] : []), 'auto'],
      body: [
        head.map((text, index) => ({
          text,
          ...{ bold: true, fontSize: 8, fillColor: colours.head },
          alignment: index === 0 ? 'left' : 'right',
        })),
        ...rows,
      ],
    },
    layout: {
      hLineWidth: (line, node) => (line === 0 ? 0 : line === node.table.body.length ? 1 : 0.5),
      vLineWidth: () => 0,
      hLineColor: () => colours.line,
      paddingTop: () => 5,
      paddingBottom: () => 5,
      paddingLeft: () => 6,
      paddingRight: () => 6,
    },
  };
}

function totalsOf(invoice: PdfInvoice): Content {
  const money = formatter(invoice);
  const line = (label: string, text: string, isTotal = false): TableCell[] => [
    { text: label, bold: isTotal, color: isTotal ? colours.text : colours.faint },
    { text: money(text), alignment: 'right', bold: isTotal, ...(isTotal ? { fontSize: 12 } : {}) },
  ];
  const hasTax = invoice.items.some(({ taxRate }) => taxRate !== null);
  return {
    unbreakable: true,
    margin: [0, 16, 0, 0],
    columns: [
      { text: '', width: '*' },
      {
        width: 220,
        layout: 'noBorders',
        table: {
          widths: ['*', 'auto'],
          body: [
            line('Subtotal', invoice.amount),
            ...(hasTax ? [line('Tax', invoice.taxAmount)] : []),
            line('Total', invoice.total, true),
          ],
        },
      },
    ],
  };
}

/** Amounts in the currency's own way, from exact text: 1,234.50 with its sign or code. */
function formatter({ currency, minorDigits }: PdfInvoice): (text: string) => string {
  const format = new Intl.NumberFormat('en-US', {
    ...{ style: 'currency', currency },
    ...{ minimumFractionDigits: minorDigits, maximumFractionDigits: minorDigits },
  });
  return (text) => format.format(text as `${number}`);
}

const plain = new Intl.NumberFormat('en-US', { maximumFractionDigits: 20 });
/** A quantity or a rate with all its digits. */
const grouped = (text: string): string => plain.format(text as `${number}`);
