import { expect } from 'chai';
import request from 'supertest';
import { usage } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { priceOfEach, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

interface Item {
  readonly id: string;
  readonly description: string;
  readonly amount: number;
  readonly tax: number;
  readonly correctedInvoiceId: string | null;
}

interface Part {
  readonly amount: number;
  readonly reverses: string | null;
  readonly correction: object | null;
}

/** The price of a contract was entered as 0.05 instead of 0.03; January and February are invoiced. */
describe('a wrong exception price, found after two invoices', function () {
  this.timeout(600_000);
  const story = useStory({ startsOn: '2025-12-20', forEachTest: true, flowTimeoutMs: 600_000 });
  const { tenant } = story;
  const reason = 'The contract says 0.03.';
  const range = { from: '2026-01-01', to: '2026-03-01' };
  const price = (unitRate: number) => priceOfEach('api_calls', unitRate, { taxCode: 'VAT' });

  const execute = async (name: string, data: object) => {
    const { body } = await tenant.post(`/v1/workflows/${name}/execute`, { data }).expect(200);
    expect(body.status, JSON.stringify(body.error)).to.equal('completed');
    return body.output;
  };
  const invoice = async (id: string | undefined) =>
    (await tenant.get(`${external}/invoices/${id}`).expect(200)).body;
  const itemsOf = async (id: string | undefined): Promise<Item[]> => (await invoice(id)).items;

  /** Two months, each with 1,000 calls: 50.00 and 5.00 tax; January's invoice is paid. */
  const twoMonths = async () => {
    story.travelTo('2025-12-20');
    await story.taxRate('VAT', 10);
    const acme = await story.account('acme', { defaultCurrency: 'USD' });
    const serviceId = await story.service('Calls', { rateCards: [usdCard(price(0.06))] });
    const line = { serviceId, rateCards: [usdCard(price(0.05))] };
    const { path, lines } = await story.subscribe(acme, [line], {
      startDate: '2026-01-01',
      currency: 'USD',
    });
    const calls = (id: string, day: string) =>
      usage('acme', serviceId, {
        externalTransactionId: id,
        eventTimestamp: `2026-${day}T12:00:00Z`,
        dimensions: { api_calls: '1000' },
      });
    story.travelTo('2026-02-02');
    await story.send(calls('january', '01-10'));
    const [january] = (await story.bill('2026-01')).invoices;
    await story.pay(acme, 55, { paymentReference: 'paid', paymentDate: '2026-02-02' });
    story.travelTo('2026-03-02');
    await story.send(calls('february', '02-10'));
    const [february] = (await story.bill('2026-02')).invoices;
    expect(await invoice(january?.id)).to.include({ amount: 50, taxAmount: 5, balance: 0 });
    expect(await invoice(february?.id)).to.include({ amount: 50, taxAmount: 5, balance: 55 });
    const lineId = lines[0]?.id ?? '';
    return {
      acme,
      calls,
      january,
      february,
      lineId,
      cards: `${path}/services/${lineId}/rate-cards`,
    };
  };

  /** What it would come to, and then the price: from the first day that was wrong. */
  const mend = async (lineId: string) => {
    const change = {
      kind: 'exceptionCard',
      contractServiceId: lineId,
      currency: 'USD',
      rows: [price(0.03)],
    };
    const tried = await execute('reprice', { name: 'As agreed', ...range, changes: [change] });
    expect(tried).to.deep.include({
      events: 2,
      accounts: 1,
      before: [{ currency: 'USD', amount: 100 }],
      after: [{ currency: 'USD', amount: 60 }],
    });
    // Nothing is rated again by itself: a dry run says what would be.
    const promote = `/v1/repricings/${tried.repricingId}/promote`;
    const { body } = await tenant.post(promote, { fromDate: '2026-01-01' }).expect(200);
    expect(body.versions).to.have.length(1);
    expect(body.versions[0]).to.deep.include({ contractServiceId: lineId, affectedEvents: 2 });
    const dry = await execute('rerate-usage', { ...range, reason, dryRun: true });
    expect(dry).to.deep.include({ correctionId: null, events: 2, changed: 2 });
    expect(dry.after).to.deep.equal(tried.after);
    const done = await execute('rerate-usage', { ...range, reason });
    expect(done).to.deep.equal({ ...dry, dryRun: false, correctionId: done.correctionId });
    return done.correctionId as string;
  };

  // spec/beyond.md R238
  it('tried, put in force, rated again: the next invoice gives the difference back and says why', async () => {
    const { acme, calls, january, february, lineId } = await twoMonths();
    const correctionId = await mend(lineId);
    expect(await invoice(january?.id)).to.include({ amount: 50, balance: 0 });
    // 20.00 of each month wait for something to be billed.
    const next = `/v1/accounts/acme/next-invoice`;
    expect((await tenant.get(next).expect(200)).body.invoices).to.deep.equal([]);
    story.travelTo('2026-04-02');
    await story.send(calls('march', '03-10'), calls('march, again', '03-11'));
    const [march] = (await story.bill('2026-03')).invoices;
    // 2,000 at 0.03 = 60, less 20 and 20: 20.00 and 2.00 tax.
    expect(march).to.include({ amount: 20, taxAmount: 2, balance: 22, invoiceType: 'Invoice' });
    const differences = (await itemsOf(march?.id)).filter(
      ({ correctedInvoiceId }) => correctedInvoiceId !== null,
    );
    expect(
      differences.map(({ amount, tax, correctedInvoiceId }) => [correctedInvoiceId, amount, tax]),
    ).to.have.deep.members([
      [january?.id, -20, -2],
      [february?.id, -20, -2],
    ]);
    const correction = { id: correctionId, kind: 'rerate', reason };
    const { items } = await story.explain(march?.id);
    const own = (items as { id: string; transactions: Part[] }[]).find(
      ({ id }) => id === differences[0]?.id,
    );
    expect(
      own?.transactions.map(({ amount, reverses, correction: why }) => [amount, !reverses, why]),
    ).to.have.deep.members([
      [-50, false, correction],
      [30, true, correction],
    ]);
    // The receipt of the customer, read with a token that sees one account alone.
    const { body: embed } = await tenant
      .post('/v1/embeds', { accountId: acme, expiresInSeconds: 3_600 })
      .expect(201);
    const receipt = await request(story.instance.url)
      .get('/v1/usage-events/january')
      .set('Authorization', `Bearer ${embed.token}`)
      .expect(200);
    expect(receipt.body.ratedTransactions).to.have.length(1);
    expect(receipt.body.ratedTransactions[0]).to.deep.include({ amount: 30, correction });
    const { body: charges } = await tenant
      .get(`/v1/corrections/${correctionId}/charges?explain=true`)
      .expect(200);
    // One of either month.
    const firstSteps = (charges.data as { firstDifference: { step: string } }[]).map(
      ({ firstDifference }) => firstDifference.step,
    );
    expect(firstSteps).to.deep.equal(['card', 'card']);
  });

  it('or the price holds from now on, and credit notes give back at once what was too much', async () => {
    const { calls, january, february, cards } = await twoMonths();
    for (const { id = '' } of [{ ...january }, { ...february }]) {
      const [item] = await itemsOf(id);
      const items = [{ itemId: item?.id, amount: 20 }];
      const { body } = await tenant
        .post(`/v1/invoices/${id}/credit-notes`, { reason, items })
        .expect(201);
      expect(body).to.include({ amount: 20, taxAmount: 2, creditReason: reason });
    }
    // January was paid: 22.00 are unapplied. Of February 33.00 are owed.
    expect(await invoice(january?.id)).to.include({ balance: 0 });
    expect(await invoice(february?.id)).to.include({ balance: 33 });
    const { body: payments } = await tenant.get('/v1/payments/paid/applications').expect(200);
    expect(payments).to.include({ balance: 22 });
    const { body: version } = await tenant
      .post(`${cards}/USD/versions`, { fromDate: '2026-03-01', ...usdCard(price(0.03)) })
      .expect(201);
    expect(version).to.include({ affectedEvents: 0 });
    story.travelTo('2026-04-02');
    await story.send(calls('march', '03-10'));
    const [march] = (await story.bill('2026-03')).invoices;
    // 1,000 at 0.03.
    expect(march).to.include({ amount: 30, taxAmount: 3 });
  });
});
