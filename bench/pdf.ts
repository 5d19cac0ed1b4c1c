import { monitorEventLoopDelay } from 'node:perf_hooks';
import { dirname, join } from 'node:path';
import { createRequire } from 'node:module';
import pdfmake from 'pdfmake';
import { openInvoiceRenderer } from '../src/adapters/pdf/render-pool.js';
import { pdfInvoice, pdfItems } from '../test/support/billing/pdf-invoice.js';
import { median } from './load.js';
import type { BenchRow } from './result.js';

const itemCount = 500;
const warmUps = 6;
const rounds = 9;
const aimMs = 300;

async function timesOf(render: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < warmUps + rounds; round += 1) {
    const since = performance.now();
    await render();
    if (round >= warmUps) times.push(performance.now() - since);
  }
  return median(times);
}

const fonts = join(
  dirname(createRequire(import.meta.url).resolve('pdfmake/package.json')),
  'fonts',
);
const roboto = join(fonts, 'Roboto', 'Roboto-Regular.ttf');

/** The same rows as a bare table of pdfmake, the library for such documents. */
function bareTable(): Promise<Buffer> {
  pdfmake.setFonts({ Roboto: { normal: roboto } });
  pdfmake.setUrlAccessPolicy(() => false);
  pdfmake.setLocalAccessPolicy((path) => path === roboto);
  const body = pdfItems(itemCount).map(
    ({ description, detail, from, to, volume, rate, amount }) => [
      `${description}\n${detail} ${from} to ${to}`,
      volume,
      rate ?? '',
      amount,
    ],
  );
  const table = { headerRows: 1, body: [['Description', 'Quantity', 'Price', 'Amount'], ...body] };
  return pdfmake.createPdf({ content: [{ table }] }).getBuffer();
}

/** An invoice of 500 items, and what the event loop notices of rendering it. */
export async function measurePdf(): Promise<BenchRow[]> {
  const renderer = openInvoiceRenderer();
  const invoice = pdfInvoice('First Customer', pdfItems(itemCount));
  const value = await timesOf(() => renderer.render(invoice));
  const inFarScripts = pdfInvoice('株式会社サンプル 주식회사 예시', pdfItems(itemCount));
  const farValue = await timesOf(() => renderer.render(inFarScripts));
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await Promise.all(Array.from({ length: rounds }, () => renderer.render(invoice)));
  delay.disable();
  const blockedMs = delay.percentile(99) / 1e6;
  await renderer.close();
  const floorValue = await timesOf(bareTable);
  const common = { unit: 'ms', floor: 'ms pdfmake, a bare table', floorValue };
  const rendering = (id: string, ms: number, what: string): BenchRow => ({
    ...common,
    id,
    value: ms,
    ratio: ms / floorValue,
    aim: `<= ${aimMs} ms`,
    measure: `rendering an invoice of ${itemCount} items, ${what}`,
    isReached: ms <= aimMs,
  });
  return [
    rendering('pdf', value, 'warm'),
    rendering('pdf (CJK)', farValue, 'its buyer in Japanese and Korean, warm'),
    {
      ...common,
      id: 'pdf (event loop)',
      value: blockedMs,
      ratio: blockedMs / floorValue,
      aim: '<= 0.2',
      isReached: blockedMs / floorValue <= 0.2,
      measure: 'p99 delay of the event loop while invoices are rendered',
    },
  ];
}
