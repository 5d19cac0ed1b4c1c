import { usage } from '../support/billing/usage.js';
import { addGrant, createWallet } from '../support/billing/wallets.js';
import { external } from '../support/servers/instance.js';
import { attribute, meteredByMonth, priceOfEach, usdCard, subscription, every } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';
import { appendFileSync } from 'node:fs';
const out = (...a: unknown[]) => appendFileSync('/tmp/zz-rv.out', a.map((x) => typeof x === 'string' ? x : JSON.stringify(x)).join(' ') + '\n');

describe('zz', () => {
  const story = useStory({ forEachTest: true, startsOn: '2026-11-24' });
  const { tenant } = story;
  let accountId = ''; let walletId = ''; let n = 0;
  beforeEach(async function () {
    out('=====', this.currentTest?.title);
    story.travelTo('2026-11-24');
    accountId = await story.account('acme');
    walletId = await createWallet(tenant, accountId);
  });
  const adjust = async (body: object) => {
    const { body: r } = await tenant.post('/v1/adjustments', { accountId, from: '2026-10-01', currency: 'USD', ...body }).expect(201);
    return r.id;
  };
  const gift = (amount: number, more: object = {}) => addGrant(tenant, walletId, `gift${++n}`, amount, { kind: 'promotional', ...more });
  const balance = async () => (await tenant.get(`${external}/wallets/${walletId}`).expect(200)).body.balance;
  const calls = (day: string, count: number, of: string, id?: string) => usage('acme', of, {
    ...(id ? { externalTransactionId: id } : {}),
    eventTimestamp: `2026-${day}T12:00:00Z`, dimensions: { api_calls: String(count) } });
  const ofOne = (name = 'Calls', more: object = {}) => story.service(name, { rateCards: [usdCard(priceOfEach('api_calls', 1, more))] });
  const seatsByMonth = () => story.service('Seats', {
    priceableAttributes: [attribute('api_calls', { ...meteredByMonth, aggregation: 'LAST' })],
    rateCards: [usdCard(priceOfEach('api_calls', 1))] });
  const bill = async (p: any) => {
    const { invoices, lines } = await story.bill(p);
    for (const i of invoices) {
      out(' ', JSON.stringify(p), i.invoiceType, i.amount, 'tax', i.taxAmount);
    }
    out('   ', lines);
    for (const { id } of invoices) for (const item of (await story.explain(id)).items) if (!item.matches) out('   MISMATCH', item.description);
    out('    balance', await balance());
    return invoices;
  };
  const cancel = (id: string) => tenant.post(`/v1/usage-events/${id}/cancel`, { reason: 'x' }).expect(200);
  it('H late recurring with a commitment that was overpaid', async () => {
    const a = await ofOne();
    const fee = await story.service('Fee', subscription('seats', 40));
    await adjust({ kind: 'maximum', value: 30, to: '2026-11-01' });
    await adjust({ kind: 'commitment', value: 20, to: '2026-11-01' });
    await gift(20);
    await bill('2026-10');
    await story.send(calls('10-05', 20, a));
    await bill('2026-11');
    await gift(40);
    await story.subscribe(accountId, [{ serviceId: fee, ...every('Monthly') }], { startDate: '2026-10-01', endDate: '2026-10-31' });
    await bill('2026-12');
    await bill('2027-01');
    await bill('2026-10');
  });
  for (const kind of ['maximum', 'commitment'])
  it('L contract ends mid November after November was billed ' + kind, async () => {
    const a = await ofOne();
    const c = await story.subscribe(accountId, [a], { startDate: '2026-10-01', currency: 'USD' });
    const own = { accountId: undefined, contractId: c.id };
    await adjust({ ...own, kind: 'maximum', value: 100 });
    await adjust({ ...own, kind, value: kind === 'maximum' ? 150 : 250, period: 'Quarterly' });
    await story.send(calls('11-05', 300, a));
    await bill('2026-10'); await bill('2026-11');
    await story.changeContract(c, { endDate: '2026-11-15' });
    await bill('2026-12');
  });
  it('M commitment of months and quarter, contract ends 31 October, both', async () => {
    const a = await ofOne();
    await adjust({ kind: 'minimum', value: 100, to: '2026-11-01' });
    await adjust({ kind: 'minimum', value: 150, period: 'Quarterly', to: '2026-11-01' });
    await bill('2026-10');
  });
  it('N dry run is the same', async () => {
    const s = await seatsByMonth();
    const id = await adjust({ kind: 'maximum', value: 60 });
    await gift(100, { expiresAt: '2026-12-02' });
    await story.send(calls('10-02', 100, s));
    await bill('2026-10');
    story.travelTo('2026-12-05');
    await story.send(calls('10-20', 50, s));
    const p = await story.preview('2026-11'); out('preview', p);
    await bill('2026-11');
  });
  it('O void of a max that gave back and was spent: tax of the zero item', async () => {
    await story.taxRate('VAT', 20);
    const a = await ofOne('T', { taxCode: 'VAT' });
    const b = await ofOne('Other', { taxCode: 'VAT' });
    await adjust({ kind: 'minimum', value: 50, to: '2026-11-01' });
    await story.send(calls('10-05', 10, a));
    await gift(40);
    await bill('2026-10');
    await story.send(calls('10-20', 100, a, 'o1'));
    await bill('2026-11');
    await gift(40);
    await tenant.post('/v1/usage-events/o1/cancel', { reason: 'x' }).expect(200);
    await story.send(calls('10-21', 40, a), calls('12-01', 100, b));
    await bill('2026-12');
  });
  it('P max for one service of a contract is raised in the month: mid month run', async () => {
    const s = await seatsByMonth();
    await adjust({ kind: 'maximum', value: 60 });
    await adjust({ kind: 'minimum', value: 90, period: 'Quarterly' });
    await gift(300);
    await story.send(calls('12-02', 100, s));
    await bill('2026-10'); await bill('2026-11'); await bill('2026-12');
  });
});
