import { expect } from 'chai';
import pg from 'pg';
import { previewVoid } from '../../../src/commands/billing/previews/preview-mending.js';
import { within } from '../../../src/kernel/scope.js';
import { usage } from '../../support/billing/usage.js';
import { external } from '../../support/servers/instance.js';
import { priceOfEach, subscription, usdCard, every } from '../../support/story/prices.js';
import { useStory } from '../../support/story/story.js';

/** What a credit note and a void would do, shown before: the same as they then do. */
describe('previews of credit notes and voids', function () {
  this.timeout(120_000);
  const story = useStory({ startsOn: '2026-04-02', forEachTest: true });
  const { tenant } = story;
  const reason = 'The agreed price was 0.01.';

  /** March: 100 calls at 0.10 and a plan of 31.00, of which a wallet pays 5.00, with 10 % tax. */
  const billMarch = async (ofGrant: object = {}) => {
    await story.taxRate('VAT', 10);
    const acme = await story.account('acme', { defaultCurrency: 'USD' });
    const price = priceOfEach('api_calls', 0.1, { taxCode: 'VAT' });
    const calls = await story.service('Calls', { rateCards: [usdCard(price)] });
    const plan = await story.service('Plan', subscription('Seats', 31));
    await story.subscribe(acme, [{ serviceId: plan, ...every('Monthly') }, calls], {
      startDate: '2026-03-01',
    });
    await story.send(
      usage('acme', calls, {
        eventTimestamp: '2026-03-10T12:00:00Z',
        dimensions: { api_calls: '100' },
      }),
    );
    const wallet = { title: 'Prepaid', accountId: acme, currency: 'USD' };
    const { body } = await tenant.post(`${external}/wallets`, wallet).expect(201);
    const grant = { externalId: 'welcome', amount: 5, kind: 'promotional', ...ofGrant };
    await tenant.post(`/v1/wallets/${body.id as string}/grants`, grant).expect(201);
    const [invoice] = (await story.bill('2026-03')).invoices;
    return { acme, calls, walletId: body.id as string, id: invoice?.id ?? '' };
  };
  const read = async (path: string) => (await tenant.get(path).expect(200)).body;
  /** What would be billed now; drafts have other ids each time. */
  const draftOf = async (account: string) =>
    (await read(`/v1/accounts/${account}/next-invoice`)).invoices.map(
      ({ total }: { total: number }) => total,
    );
  const preview = async (id: string, of: string, body?: object) =>
    (await tenant.post(`/v1/invoices/${id}/${of}/preview`, body).expect(200)).body;

  // spec/beyond.md R468
  it('say to the cent what a note comes to and what payments get back, and write nothing', async () => {
    const { acme, id } = await billMarch();
    // 10.00 with 1.00 tax, and 31.00 less 5.00.
    const before = await read(`${external}/invoices/${id}`);
    expect(before).to.include({ total: 37, balance: 37 });
    await story.pay(acme, 40, { paymentReference: 'paid', paymentDate: '2026-04-02' });
    const state = async () => [
      await read(`${external}/invoices/${id}`),
      await read('/v1/payments/paid/applications'),
      await read(`/v1/invoices/${id}/credit-notes`),
      await draftOf(acme),
    ];
    const earlier = await state();
    const item = (before.items as { id: string; tax: number }[]).find(({ tax }) => tax > 0);
    const note = { reason, items: [{ itemId: item?.id, amount: 2.5 }] };
    const shown = await preview(id, 'credit-notes', note);
    const { paymentId } = shown.payments[0];
    // 2.50 with a tenth of it.
    expect(shown).to.deep.equal({
      currency: 'USD',
      amount: 2.5,
      taxAmount: 0.25,
      total: 2.75,
      balanceBefore: 0,
      balanceAfter: 0,
      // Of 40.00 it paid 37.00.
      payments: [{ paymentId, paymentReference: 'paid', amount: 2.75, unapplied: 5.75 }],
    });
    expect(await state()).to.deep.equal(earlier);
    const { body: made } = await tenant.post(`/v1/invoices/${id}/credit-notes`, note).expect(201);
    // No number was used up.
    expect(made).to.include({ amount: 2.5, taxAmount: 0.25, invoiceNo: 'CN-000001' });
    expect(await read('/v1/payments/paid/applications')).to.include({ balance: 5.75 });
  });

  // spec/beyond.md R468
  it('say what a void gives back and what would be billed instead, by the prices of now', async () => {
    const { acme, calls, walletId, id } = await billMarch();
    await story.pay(acme, 40, { paymentReference: 'paid', paymentDate: '2026-04-02' });
    const state = async () => [
      await read(`${external}/invoices/${id}`),
      await read('/v1/payments/paid/applications'),
      await read(`/v1/wallets/${walletId}/entries`),
      await draftOf(acme),
    ];
    const earlier = await state();
    const shown = await preview(id, 'void');
    expect(shown).to.deep.include({
      currency: 'USD',
      total: 37,
      balanceBefore: 0,
      balanceAfter: 0,
      // The plan is charged anew, and draws on the wallet again.
      wallets: [{ walletId, amount: 5 }],
      rebilled: [{ invoiceType: 'Invoice', currency: 'USD', amount: 36, taxAmount: 1, total: 37 }],
      problems: [],
    });
    expect(shown.payments).to.have.length(1);
    expect(shown.payments[0]).to.include({ paymentReference: 'paid', amount: 37, unapplied: 40 });
    expect(await state()).to.deep.equal(earlier);
    // The wrong price of the calls is mended: 100 at 0.05, with a tenth.
    await tenant
      .post(`${external}/services/${calls}/rate-cards/USD/versions`, {
        fromDate: '2026-03-01',
        ...usdCard(priceOfEach('api_calls', 0.05, { taxCode: 'VAT' })),
      })
      .expect(201);
    const data = { from: '2026-03-01', to: '2026-04-01', reason };
    await tenant.post('/v1/workflows/rerate-usage/execute', { data }).expect(200);
    const { rebilled } = await preview(id, 'void');
    expect(rebilled).to.deep.equal([
      { invoiceType: 'Invoice', currency: 'USD', amount: 31, taxAmount: 0.5, total: 31.5 },
    ]);
    await tenant.post(`/v1/invoices/${id}/void`, { reason }).expect(200);
    const [again] = (await story.bill('2026-03')).invoices;
    expect(again).to.include({ amount: 31, taxAmount: 0.5 });
  });

  // spec/beyond.md R468
  it('say of a wallet what the void gives back, not what is due there anyway', async () => {
    const { id, walletId } = await billMarch({ expiresAt: '2026-04-20' });
    const more = [
      { externalId: 'ends', amount: 3, kind: 'promotional', expiresAt: '2026-04-05' },
      { externalId: 'begins', amount: 4, kind: 'promotional', effectiveFrom: '2026-04-06' },
    ];
    for (const one of more) await tenant.post(`/v1/wallets/${walletId}/grants`, one).expect(201);
    story.travelTo('2026-04-10');
    expect((await preview(id, 'void')).wallets).to.deep.equal([{ walletId, amount: 5 }]);
    // What has ended gets nothing back.
    story.travelTo('2026-04-21');
    expect((await preview(id, 'void')).wallets).to.deep.equal([]);
    await tenant.post(`/v1/invoices/${id}/void`, { reason }).expect(200);
    const { balance } = await read(`${external}/wallets/${walletId}`);
    expect(balance).to.equal(4);
  });

  // spec/beyond.md R468
  it('write nothing in a transaction of their caller either, as workflows have one', async () => {
    const { id } = await billMarch();
    const before = await read(`${external}/invoices/${id}`);
    const { scope } = tenant;
    const { total } = await scope.db.transaction((trx) => previewVoid(within(scope, trx), id));
    expect(Number(total)).to.equal(37);
    expect(await read(`${external}/invoices/${id}`)).to.deep.equal(before);
  });

  // spec/beyond.md R468
  it('end with 503 after seconds, before others wait for what they hold', async () => {
    const { acme, id } = await billMarch();
    const other = new pg.Client({ connectionString: story.instance.databaseUrl });
    await other.connect();
    await other.query('begin');
    try {
      await other.query('select from account where id = $1 for update', [acme]);
      const { body } = await tenant.post(`/v1/invoices/${id}/void/preview`).expect(503);
      expect(body.error.message).to.include('took longer than the database may work');
    } finally {
      await other.end();
    }
    await preview(id, 'void');
  });

  it('are refused as what they show would be', async () => {
    const { id } = await billMarch();
    const absent = '00000000-0000-4000-8000-000000000000';
    await tenant.post(`/v1/invoices/${absent}/credit-notes/preview`, { reason }).expect(404);
    await tenant.post(`/v1/invoices/${absent}/void/preview`).expect(404);
    await tenant.post(`/v1/invoices/${id}/credit-notes/preview`, {}).expect(400);
    const { body: note } = await tenant
      .post(`/v1/invoices/${id}/credit-notes`, { reason })
      .expect(201);
    await tenant.post(`/v1/invoices/${id}/credit-notes/preview`, { reason }).expect(409);
    const { body } = await tenant.post(`/v1/invoices/${id}/void/preview`).expect(409);
    expect(body.error.message).to.include('has credit notes');
    // The invoice is owed again, and nothing is billed instead.
    const shown = await preview(note.id, 'void');
    expect(shown).to.deep.include({ rebilled: [], problems: [], wallets: [] });
    const { token } = { token: await story.instance.token(tenant.id, ['READER']) };
    const answer = await fetch(`${story.instance.url}/v1/invoices/${id}/void/preview`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(answer.status).to.equal(403);
  });
});
