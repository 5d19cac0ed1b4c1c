import { expect } from 'chai';
import type { PdfInvoice, PdfItem } from '../../src/kernel/pdf-invoice.js';
import { renderInvoicePdf } from '../../src/platform/pdf/invoice-pdf.js';
import { textRuns } from '../../src/platform/pdf/text-runs.js';

const item = (description: string): PdfItem => ({
  ...{ description, detail: 'API', from: '2026-09-01', to: '2026-09-30' },
  ...{ volume: '17', rate: '0.125', amount: '2.13', tax: '0', taxRate: null },
});

const invoice = (name: string, items: readonly PdfItem[]): PdfInvoice => ({
  ...{ id: '0190a000-0000-7000-8000-000000000001', title: 'Invoice', invoiceNo: 'INV-000001' },
  ...{ invoiceDate: '2026-10-01', dueDate: '2026-10-31', periodStart: '2026-09-01' },
  ...{ periodEnd: '2026-09-30', currency: 'USD', minorDigits: 2, seller: ['Acme Billing'] },
  ...{ buyer: [name, '1 Main Street'], amount: '2.13', taxAmount: '0', total: '2.13', items },
});

const pagesOf = (pdf: Buffer): number =>
  pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length ?? 0;
const hasFont = (pdf: Buffer, name: string): boolean => pdf.toString('latin1').includes(name);

describe('the PDF of an invoice', () => {
  it('has the same bytes for the same invoice, and others for another', async () => {
    const [first, second] = [
      await renderInvoicePdf(invoice('First Customer', [item('Calls')])),
      await renderInvoicePdf(invoice('First Customer', [item('Calls')])),
    ];
    expect(first.subarray(0, 5).toString()).to.equal('%PDF-');
    expect(first.equals(second)).to.equal(true);
    const other = await renderInvoicePdf(invoice('Other Customer', [item('Calls')]));
    expect(first.equals(other)).to.equal(false);
  });

  it('goes over as many pages as its items need', async () => {
    const items = Array.from({ length: 500 }, (_none, index) => item(`Calls of region ${index}`));
    const pdf = await renderInvoicePdf(invoice('First Customer', items));
    expect(pagesOf(pdf)).to.be.within(15, 40);
    expect(pagesOf(await renderInvoicePdf(invoice('First Customer', [item('Calls')])))).to.equal(1);
  });

  for (const [script, name, font] of [
    ['Chinese', '测试有限公司', 'NotoSansHans'],
    ['Japanese', '株式会社テスト', 'NotoSansHans'],
    ['Korean', '주식회사 테스트', 'NotoSansKR'],
  ] as const) {
    it(`has a font for ${script}`, async () => {
      expect(hasFont(await renderInvoicePdf(invoice(name, [item('Calls')])), font)).to.equal(true);
      const latin = await renderInvoicePdf(invoice('Łódź Ωmega Ж', [item('Calls')]));
      expect(hasFont(latin, font)).to.equal(false);
    });
  }

  it('divides a text by the fonts that have its signs', () => {
    expect(textRuns('Seoul 서울 東京\u202e')).to.deep.equal([
      { text: 'Seoul ', font: 'Latin' },
      { text: '서울', font: 'Hangul' },
      { text: ' ', font: 'Latin' },
      { text: '東京', font: 'Han' },
    ]);
    expect(textRuns('')).to.deep.equal([]);
  });
});
