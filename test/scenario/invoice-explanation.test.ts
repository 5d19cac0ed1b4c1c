import { expect } from 'chai';
import { tiers, usage } from '../support/billing/usage.js';
import {
  attribute,
  every,
  meteredByMonth,
  priceOfEach,
  row,
  usdCard,
} from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

interface Explained {
  readonly rows: readonly { readonly row: { readonly label: string }; readonly amount: string }[];
  readonly steps: readonly { readonly label: string; readonly formula: string; value: string }[];
  readonly card: { readonly fromDate: string; readonly note?: string };
  readonly total: { readonly amount: string };
}

interface ExplainedItem {
  readonly description: string;
  readonly amount: number;
  readonly matches: boolean;
  readonly transactions: readonly { readonly explanation: Explained | null }[];
  readonly charges: readonly {
    readonly amount: number;
    readonly proration: object | null;
    readonly explanation: Explained | null;
  }[];
}

describe('the explanation of an invoice', () => {
  const story = useStory({ forEachTest: true });

  const itemsOf = async (invoiceId: string | undefined): Promise<ExplainedItem[]> =>
    (await story.explain(invoiceId)).items;

  // spec/beyond.md R20
  it('is there for each charge of an event that bills twelve accounts, counters included', async () => {
    const names = Array.from({ length: 12 }, (_none, index) => `part${index}`);
    const accounts: string[] = [];
    for (const name of names) accounts.push(await story.account(name));
    await story.account('user');
    const serviceId = await story.service('Parts', {
      priceableAttributes: names.map((name) => attribute(name, meteredByMonth)),
      rateCards: [
        usdCard(
          ...names.map((name, index) =>
            row(name, {
              billingAccountId: accounts[index],
              ...tiers([0, 100, 1], [100, null, 2]),
            }),
          ),
        ),
      ],
    });
    const dimensions = Object.fromEntries(names.map((name) => [name, '80']));
    // One after the other: the second begins where the first has left the counters.
    await story.send(usage('user', serviceId, { dimensions }));
    await story.send(usage('user', serviceId, { dimensions }));
    const { run } = await story.bill('2026-03');
    expect(run.invoiceIds).to.have.length(12);
    for (const id of run.invoiceIds) {
      const [item] = await itemsOf(id);
      // 80 at 1; then 20 at 1 and 60 at 2: 220 in all.
      expect(item).to.include({ amount: 220, matches: true });
      const totals = item?.transactions.map(({ explanation }) => explanation?.total.amount);
      expect(totals?.sort()).to.deep.equal(['140', '80']);
    }
  });

  it('goes on to the days that are charged, price by price', async () => {
    const accountId = await story.account('acme');
    const serviceId = await story.service('Plan', {
      serviceType: 'Subscription',
      priceableAttributes: [
        attribute('Seats', { isProration: true }),
        attribute('Support', { isProration: true }),
      ],
      rateCards: [usdCard(priceOfEach('Seats', 60), priceOfEach('Support', 31))],
    });
    await story.subscribe(accountId, [{ serviceId, ...every('Monthly') }], {
      startDate: '2026-03-16',
    });
    const march = await story.bill('2026-03');
    const items = await itemsOf(march.invoices[0]?.id);
    // 16 to 31 March are 16 of 31 days: 60 x 16 / 31 = 30.9677..., and 31 x 16 / 31 = 16.
    const found = items.map(({ amount, charges: [charge] }) => {
      const { rows = [], steps = [], total } = charge?.explanation ?? {};
      const [step, ...others] = steps;
      return [
        amount,
        charge?.proration,
        rows.map(({ row: { label } }) => label),
        step?.label,
        step?.formula,
        step?.value,
        others.length,
        total?.amount,
      ];
    });
    const proration = { days: 16, of: 31, text: '16 of 31 days' };
    const first = '30.9677419355';
    expect(found).to.deep.equal([
      [30.97, proration, ['Seats'], '16 of 31 days', '60 * 16 / 31', first, 0, first],
      [16, proration, ['Support'], '16 of 31 days', '31 * 16 / 31', '16', 0, '16'],
    ]);
    const april = await story.bill('2026-04');
    const [whole] = await itemsOf(april.invoices[0]?.id);
    expect(whole?.charges[0]?.proration).to.equal(null);
    expect(whole?.charges[0]?.explanation).to.deep.include({ steps: [] });
  });

  // spec/rating.md R17
  it('says that there was no version of the card when the usage is older than the first', async () => {
    await story.account('acme');
    const serviceId = await story.service('Calls');
    await story.send(usage('acme', serviceId, { eventTimestamp: '2026-01-05T00:00:00Z' }));
    const { invoices } = await story.bill('2026-01');
    const [item] = await itemsOf(invoices[0]?.id);
    const card = item?.transactions[0]?.explanation?.card;
    expect(card?.note).to.equal(
      `There was no version before ${card?.fromDate}: the first one prices the usage of 2026-01-05.`,
    );
  });

  it('says on which day it was that something was paid once', async () => {
    const accountId = await story.account('acme');
    const serviceId = await story.service('Setup', { serviceType: 'OTC' });
    await story.subscribe(accountId, [serviceId], { startDate: '2026-03-16' });
    const { invoices } = await story.bill('2026-03');
    const [item] = await itemsOf(invoices[0]?.id);
    const day = '2026-03-16';
    expect(item?.charges[0]).to.include({ periodStart: day, periodEnd: day, billStartDate: day });
  });
});
