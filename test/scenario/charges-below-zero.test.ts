import { expect } from 'chai';
import { loadPdfInvoice } from '../../src/queries/billing/invoice-pdf.js';
import { tiers, usage } from '../support/billing/usage.js';
import { attribute, flatPrice, row, subscriptionOf, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

const taxed = { taxCode: 'VAT' };

describe('charges that come to less than zero', () => {
  const story = useStory({ forEachTest: true });
  const { tenant } = story;
  let masterAccountId: string;
  beforeEach(async () => {
    masterAccountId = await story.account('acme');
    await story.taxRate('VAT', 10);
  });

  const march = async () => {
    const dry = await story.preview('2026-03');
    const { invoices } = await story.bill('2026-03');
    const short = ({ invoiceType, amount, taxAmount }: (typeof invoices)[number]) =>
      `${invoiceType} ${amount} ${taxAmount}`;
    expect(dry.invoices?.map(short)).to.deep.equal(invoices.map(short));
    return invoices;
  };
  const pay = (paymentType: string, amount: number) =>
    story.pay(masterAccountId, amount, { paymentType, paymentReference: paymentType });

  // spec/beyond.md R17
  it('are a credit note that money which goes out pays', async () => {
    // 16 of 31 days: -50 x 16 / 31 = -25.806...; tax 2.58.
    const rebate = await story.service('Rebate', subscriptionOf(flatPrice('Rebate', -50, taxed)));
    await story.subscribe(masterAccountId, [rebate], { startDate: '2026-03-16' });
    const [note, ...others] = await march();
    expect(others).to.deep.equal([]);
    expect(note).to.include({ invoiceNo: 'CN-000001', invoiceType: 'Credit Note', dueDate: null });
    expect(note).to.include({ amount: 25.81, taxAmount: 2.58, balance: 28.39 });
    expect(note?.items[0]).to.include({ volume: 1, ratePerUnit: 50, amount: 25.81, tax: 2.58 });
    const { items, summary } = await story.explain(note?.id ?? '');
    expect(items[0]).to.include({ matches: true, exactAmount: 25.8064516129 });
    expect(summary.items[0]).to.include({ amount: 25.81, percent: 100 });
    expect(await pay('Pay In', 28.39)).to.include({ balance: 28.39 });
    expect(await pay('Pay Out', 28.39)).to.include({ balance: 0 });
  });

  it('are explained with their tiers, and by their largest events', async () => {
    const graduated = tiers([0, 10, -1], [10, null, -0.5]);
    const serviceId = await story.service('Back', {
      ...subscriptionOf(row('Back', { ...taxed, ...graduated })),
      serviceType: 'Usage',
    });
    for (const count of ['30', '4']) {
      await story.send(usage('acme', serviceId, { dimensions: { Back: count } }));
    }
    const [note] = await march();
    // 14 x 1 + 20 x 0.5.
    expect(note).to.include({ invoiceType: 'Credit Note', amount: 24 });
    const [item] = note?.items as unknown as { tiers: { ratePerUnit: number; amount: number }[] }[];
    expect(item?.tiers.map(({ ratePerUnit, amount }) => [ratePerUnit, amount])).to.deep.equal([
      [1, 14],
      [0.5, 10],
    ]);
    const { items, summary } = await story.explain(note?.id ?? '');
    expect(items[0]).to.include({ matches: true, sumOfParts: -24, exactAmount: 24 });
    expect(summary.items[0].rows[0]).to.include({ amount: 24 });
    expect(summary.largestEvents[0]).to.include({ amount: 20 });
  });

  it('say on the paper that the steps of a formula have the opposite sign', async () => {
    const serviceId = await story.service('Refund', {
      priceableAttributes: [attribute('jobs')],
      pricingLogic: [
        {
          name: 'Main',
          priceOutput: 'total',
          transactionDimension: 'Customer',
          steps: [{ name: 'total', label: 'Three back for each', formula: '-3 * jobs' }],
        },
      ],
      rateCards: [usdCard(row('jobs', { label: 'Jobs', priceMethod: 'NO_PRICE' }))],
    });
    await story.send(usage('acme', serviceId, { dimensions: { jobs: '4' } }));
    const [note] = await march();
    expect(note).to.include({ invoiceType: 'Credit Note', amount: 12, dueDate: null });
    const { dueDate, total, items } = await loadPdfInvoice(tenant.scope, note?.id ?? '');
    expect([dueDate, total]).to.deep.equal([null, '12']);
    expect(
      items[0]?.steps.map(({ label, value }) => `${label ?? ''}: ${value ?? ''}`),
    ).to.deep.equal(['Three back for each: -12', 'On this document: with the opposite sign']);
  });

  it('are a line of the invoice beside charges that are more', async () => {
    const rebate = await story.service('Rebate', subscriptionOf(flatPrice('Rebate', -50, taxed)));
    const fee = await story.service('Fee', subscriptionOf(flatPrice('Fee', 80, taxed)));
    await story.subscribe(masterAccountId, [rebate, fee], { startDate: '2026-03-01' });
    const [invoice] = await march();
    expect(invoice).to.include({ invoiceNo: 'INV-000001', amount: 30, taxAmount: 3 });
    expect(invoice?.items.map(({ amount }) => amount)).to.deep.equal([-50, 80]);
  });
});
