import { inflateSync } from 'node:zlib';
import { expect } from 'chai';
import { renderInvoicePdf } from '../../src/adapters/pdf/invoice-pdf.js';
import { openInvoiceRenderer } from '../../src/adapters/pdf/render-pool.js';
import { drawnRuns, seenText, textRuns } from '../../src/adapters/pdf/text-runs.js';
import { taxedInvoice } from '../support/billing/e-invoice.js';
import { pdfInvoice, pdfItem, pdfItems, pdfParty } from '../support/billing/pdf-invoice.js';

const pagesOf = (pdf: Buffer): number =>
  pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length ?? 0;
const hasFont = (pdf: Buffer, name: string): boolean => pdf.toString('latin1').includes(name);

/** The files that a PDF holds. */
function attachmentsOf(pdf: Buffer): string[] {
  const found: string[] = [];
  const text = pdf.toString('latin1');
  for (const { index, 0: head } of text.matchAll(/\/Type \/EmbeddedFile[^]*?stream\n/g)) {
    const length = Number(/\/Length (\d+)/.exec(head)?.[1]);
    const from = index + head.length;
    found.push(inflateSync(pdf.subarray(from, from + length)).toString());
  }
  return found;
}

/** What is drawn on the pages. */
function drawingsOf(pdf: Buffer): string[] {
  const drawings: string[] = [];
  for (const { index, 0: head } of pdf.toString('latin1').matchAll(/<<[^<>]*>>\nstream\n/g)) {
    const length = Number(/\/Length (\d+)/.exec(head)?.[1]);
    const from = index + head.length;
    const bytes = pdf.subarray(from, from + length);
    const text = head.includes('/FlateDecode') ? inflateSync(bytes).toString('latin1') : '';
    if (text.includes('BT\n')) drawings.push(text);
  }
  return drawings;
}

describe('the PDF of an invoice', () => {
  it('has the same bytes for the same invoice, and others for another', async () => {
    const names = ['First Customer', '測試 테스트', 'شركة الاختبار', 'חברת הבדיקות'];
    for (const name of names) {
      const [first, second] = [
        await renderInvoicePdf(pdfInvoice(name, [pdfItem('Calls')])),
        await renderInvoicePdf(pdfInvoice(name, [pdfItem('Calls')])),
      ];
      expect(first.subarray(0, 5).toString()).to.equal('%PDF-');
      expect(first.equals(second), name).to.equal(true);
      const other = await renderInvoicePdf(pdfInvoice('Other Customer', [pdfItem('Calls')]));
      expect(first.equals(other), name).to.equal(false);
    }
    const [taxed, again] = [
      await renderInvoicePdf(taxedInvoice()),
      await renderInvoicePdf(taxedInvoice()),
    ];
    expect(taxed.equals(again)).to.equal(true);
  });

  it('is rendered by a thread as it is without one, and no thread outlives its renderer', async () => {
    const renderer = openInvoiceRenderer();
    const invoice = pdfInvoice('First Customer', [pdfItem('Calls')]);
    const pdfs = await Promise.all([renderer.render(invoice), renderer.render(invoice)]);
    await renderer.close();
    const here = await renderInvoicePdf(invoice);
    for (const pdf of pdfs) expect(pdf.equals(here)).to.equal(true);
  });

  it('is the same whatever was rendered before, with fonts that stay open', async () => {
    const names = ['First Customer', '測試 테스트', 'شركة الاختبار', 'חברת הבדיקות'];
    const invoices = names.map((name) => pdfInvoice(name, [pdfItem(`${name} 1`)]));
    const here = new Map<string, Buffer>();
    for (const invoice of invoices) {
      here.set(invoice.buyer.name, await renderInvoicePdf(invoice));
    }
    const renderer = openInvoiceRenderer();
    for (const invoice of invoices.toReversed()) {
      const pdf = await renderer.render(invoice);
      expect(here.get(invoice.buyer.name)?.equals(pdf), invoice.buyer.name).to.equal(true);
    }
    await renderer.close();
  });

  it('goes over as many pages as its items need', async () => {
    const pdf = await renderInvoicePdf(pdfInvoice('First Customer', pdfItems(500)));
    expect(pagesOf(pdf)).to.be.within(15, 40);
    const one = await renderInvoicePdf(pdfInvoice('First Customer', [pdfItem('Calls')]));
    expect(pagesOf(one)).to.equal(1);
    const long = pdfItem('word '.repeat(1_500), { detail: 'W'.repeat(500) });
    expect(pagesOf(await renderInvoicePdf(pdfInvoice('First', [long])))).to.be.within(3, 8);
  });

  it('has items on every page: totals never stand alone', async () => {
    const pageCounts = new Set<number>();
    for (let count = 10; count <= 22; count += 1) {
      const drawings = drawingsOf(await renderInvoicePdf(pdfInvoice('First', pdfItems(count))));
      pageCounts.add(drawings.length);
      // The head of the table is 21 high.
      for (const drawing of drawings) expect(drawing).to.match(/ 21 re/);
    }
    expect([...pageCounts]).to.deep.equal([1, 2]);
  });

  it('of a void invoice says so on every page, and in its title', async () => {
    const pdf = await renderInvoicePdf(pdfInvoice('First', pdfItems(30), { isVoid: true }));
    const posted = await renderInvoicePdf(pdfInvoice('First', pdfItems(30)));
    // The mark is turned.
    const isTurned = (drawing: string): boolean => /^0\.57\d* -?0\.81/m.test(drawing);
    expect(drawingsOf(pdf).map(isTurned)).to.deep.equal([true, true]);
    expect(drawingsOf(posted).map(isTurned)).to.deep.equal([false, false]);
    expect(pdf.toString('latin1')).to.include('INV-000001 (void)');
    expect(posted.toString('latin1')).to.not.include('(void)');
  });

  for (const [script, name, font] of [
    ['Chinese', '测试有限公司', 'NotoSansHans'],
    ['Japanese', '株式会社テスト', 'NotoSansHans'],
    ['Korean', '주식회사 테스트', 'NotoSansKR'],
    ['Arabic', 'شركة الاختبار', 'NotoNaskhArabic'],
    ['Hebrew', 'חברת הבדיקות', 'NotoSansHebrew'],
  ] as const) {
    it(`has a font for ${script}`, async () => {
      const items = [pdfItem('Calls')];
      const pdf = await renderInvoicePdf(pdfInvoice(name, items));
      expect(hasFont(pdf, font)).to.equal(true);
      const latin = await renderInvoicePdf(pdfInvoice('Łódź Ωmega Ж', items));
      expect(hasFont(latin, font)).to.equal(false);
    });
  }

  it('is a PDF/A-3b, with the XML of what EN 16931 can say and without where it cannot', async () => {
    const taxed = await renderInvoicePdf(taxedInvoice());
    const [xml = '', ...others] = attachmentsOf(taxed);
    expect(others).to.deep.equal([]);
    expect(xml).to.include('<ram:ID>INV-000001</ram:ID>');
    const text = taxed.toString('latin1');
    expect(text).to.include('/AFRelationship /Alternative');
    expect(text).to.include('<fx:ConformanceLevel>EN 16931</fx:ConformanceLevel>');
    const plain = await renderInvoicePdf(pdfInvoice('First Customer', [pdfItem('Calls')]));
    expect(attachmentsOf(plain)).to.deep.equal([]);
    for (const pdf of [taxed, plain]) {
      expect(pdf.toString('latin1')).to.include('<pdfaid:part>3</pdfaid:part>');
      expect(pdf.toString('latin1')).to.include('/S /GTS_PDFA1');
    }
  });

  it('renders signs that no font has, and numbers longer than their column', async () => {
    const item = pdfItem('😀\u0000 ก', {
      volume: '123456789012345678901234567890.12345',
      rate: '0.12345678901234567890',
    });
    const seller = pdfParty('A'.repeat(300));
    expect(pagesOf(await renderInvoicePdf(pdfInvoice('', [item], { seller })))).to.equal(1);
  });
});

describe('the texts of an invoice', () => {
  it('are divided by the fonts that have their signs', () => {
    expect(textRuns(seenText('Seoul 서울 東京\u202e'))).to.deep.equal([
      { text: 'Seoul ', font: 'Latin' },
      { text: '서울', font: 'Hangul' },
      { text: ' ', font: 'Latin' },
      { text: '東京', font: 'Han' },
    ]);
    expect(textRuns('')).to.deep.equal([]);
    // A joiner between Arabic letters tells how they are written; elsewhere nothing.
    expect(seenText('می\u200cخواهم a\u200cb')).to.equal('می\u200cخواهم ab');
    expect(textRuns('می\u200cخواهم')).to.have.length(1);
    expect(seenText('e\u0301')).to.equal('é');
  });

  for (const [name, given, expected] of [
    ['left to right', 'Acme Ltd', ['Acme Ltd']],
    ['Hebrew words from the right', 'אב גד', ['גד', ' ', 'אב']],
    [
      'a Hebrew name among Latin ones',
      'Acme אב גד Ltd',
      ['Acme', ' ', 'גד', ' ', 'אב', ' ', 'Ltd'],
    ],
    ['numbers within Hebrew, as they are read', 'אב 12 גד', ['גד', ' ', '12', ' ', 'אב']],
    ['brackets, which change sides', '(אב)', ['(', 'אב', ')']],
    ['brackets within', 'א (ב) ג', ['ג', ' ', '(', 'ב', ')', ' ', 'א']],
    ['days before a Hebrew name', '2026-09-01 · אב', ['2026-09-01', ' ', '·', ' ', 'אב']],
    ['Arabic digits, one by one', '٠١٢', ['٠', '١', '٢']],
  ] as const) {
    it(`are drawn: ${name}`, () => {
      expect(drawnRuns(given).map(({ text }) => text)).to.deep.equal(expected);
    });
  }
});
