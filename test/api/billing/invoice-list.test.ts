import { expect } from 'chai';
import { storeInvoice } from '../../support/billing/invoices.js';
import { external } from '../../support/servers/instance.js';
import { useStory } from '../../support/story/story.js';

const invoices = `${external}/invoices`;

describe('the list of invoices', () => {
  const story = useStory({ forEachTest: true });
  const { tenant } = story;

  const numbers = async (query = ''): Promise<string[]> => {
    const { body } = await tenant.get(`${invoices}?${query}`).expect(200);
    return body.data.content.map(({ InvoiceNo }: { InvoiceNo: string }) => InvoiceNo);
  };

  // spec/beyond.md R546
  it('has those of a day by number, longer ones as later ones', async () => {
    const accountId = await story.account('acme');
    // In no order.
    for (const invoiceNo of ['INV-999999', 'CN-000002', 'INV-1000000', 'INV-000007', 'CN-000001']) {
      await storeInvoice(tenant.scope, { invoice: { invoiceNo, accountId } });
    }
    const later = { invoiceNo: 'INV-000001', accountId, invoiceDate: '2026-04-02' };
    await storeInvoice(tenant.scope, { invoice: later });
    const expected = [
      'INV-000001',
      'INV-1000000',
      'INV-999999',
      'INV-000007',
      'CN-000002',
      'CN-000001',
    ];
    expect(await numbers()).to.deep.equal(expected);
    expect(await numbers(`accountId=${accountId}&q=0`)).to.deep.equal(
      expected.filter((number) => number !== 'INV-999999'),
    );
    expect(await numbers('size=2&page=1')).to.deep.equal(expected.slice(2, 4));
  });

  // spec/beyond.md R563
  it('is asked for those that bill days of a period', async () => {
    const [acme, bob] = [await story.account('acme'), await story.account('bob')];
    const stored = {
      'INV-1': { periodStart: '2026-09-01', periodEnd: '2026-09-30' },
      'INV-2': { periodStart: '2026-10-01', periodEnd: '2026-10-31' },
      'INV-3': { periodStart: '2026-10-01', periodEnd: '2026-12-31', accountId: bob },
      'INV-4': { periodStart: '2026-11-01', periodEnd: '2026-11-30' },
      // What is credited by itself bills no days.
      'CN-5': {},
    };
    for (const [invoiceNo, more] of Object.entries(stored)) {
      await storeInvoice(tenant.scope, { invoice: { invoiceNo, accountId: acme, ...more } });
    }
    for (const [query, expected] of [
      ['periodFromDate=2026-10-01&periodToDate=2026-10-31', ['INV-3', 'INV-2']],
      ['periodFromDate=2026-10-31&periodToDate=2026-11-01', ['INV-4', 'INV-3', 'INV-2']],
      ['periodFromDate=2026-12-31', ['INV-3']],
      ['periodFromDate=2027-01-01', []],
      ['periodToDate=2026-09-01', ['INV-1']],
      ['periodToDate=2026-08-31', []],
      [`periodFromDate=2026-10-01&accountId=${acme}&q=inv&size=1&page=1`, ['INV-2']],
    ] as const) {
      expect(await numbers(query), query).to.deep.equal(expected);
    }
    const order = 'periodFromDate=2026-10-02&periodToDate=2026-10-01';
    for (const query of [order, 'periodFromDate=October', 'periodToDate=2026-02-30']) {
      const { body } = await tenant.get(`${invoices}?${query}`).expect(400);
      expect(body.message).to.include(`'${query.split('=')[0] ?? ''}'`);
    }
  });
});
