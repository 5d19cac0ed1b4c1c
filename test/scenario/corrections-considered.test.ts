import { expect } from 'chai';
import { findOwners } from '../../src/queries/usage/corrections/rerating/rerate-range.js';
import { meteredService, summary, usage, type Message } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { priceOfEach, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

/** What a correction looks at, in which order, and what it leaves alone. */
describe('what corrections consider', () => {
  const story = useStory({ startsOn: '2026-04-20', forEachTest: true });
  const { tenant } = story;
  const reason = 'It was wrong.';

  const amountOf = async (id: string): Promise<number[]> =>
    (await story.event(id)).ratedTransactions.map((charge: { amount: number }) => charge.amount);
  const amountsOf = (...ids: string[]): Promise<number[][]> => Promise.all(ids.map(amountOf));
  const rerate = async (more: object = {}) => {
    const data = { from: '2026-03-01', to: '2026-04-01', reason, ...more };
    const { body } = await tenant.post('/v1/workflows/rerate-usage/execute', { data }).expect(200);
    expect(body.status, JSON.stringify(body.error)).to.equal('completed');
    return body.output;
  };
  const version = (serviceId: string, unitRate: number, fromDate: string) =>
    tenant
      .post(`${external}/services/${serviceId}/rate-cards/USD/versions`, {
        ...usdCard(priceOfEach('api_calls', unitRate)),
        fromDate,
      })
      .expect(201);
  const calls = (account: string, serviceId: string, count: number, more: Message = {}): Message =>
    usage(account, serviceId, { dimensions: { api_calls: String(count) }, ...more });

  // spec/beyond.md R203
  it('an event that moves to another account stands there where it came', async () => {
    await story.account('acme');
    await story.account('globex');
    const serviceId = await story.service('Metered', meteredService);
    // One after the other: accounts may be in different partitions, which are rated beside each other.
    const [first = ''] = await story.send(calls('globex', serviceId, 800));
    const message = calls('acme', serviceId, 800);
    const [moved = ''] = await story.send(message);
    const [last = ''] = await story.send(calls('globex', serviceId, 800));
    // 200 of the last one are free: 600 x 0.02.
    expect(await amountsOf(first, moved, last)).to.deep.equal([[0], [0], [12]]);
    const body = { reason, message: { ...message, billingAccountRef: 'globex' } };
    await tenant.post(`/v1/usage-events/${moved}/amend`, body).expect(200);
    // Between the two: it pays what the last one paid, which is 800 x 0.02 now.
    expect(await amountsOf(first, moved, last)).to.deep.equal([[0], [12], [16]]);
  });

  // spec/beyond.md R210
  it('a range of a contract has the usage that it would price now, rated before it was entered', async () => {
    const acme = await story.account('acme');
    const serviceId = await story.service('Metered', meteredService);
    const other = await story.service('Other', meteredService);
    const ids = await story.send(calls('acme', serviceId, 1800), calls('acme', other, 1800));
    const line = { serviceId, rateCards: [usdCard(priceOfEach('api_calls', 0.01))] };
    const { id } = await story.subscribe(acme, [line], { startDate: '2026-01-01' });
    // 800 x 0.02 = 16; then 1,800 x 0.01 = 18.
    expect(await rerate({ contractId: id })).to.deep.include({
      events: 1,
      changed: 1,
      before: [{ currency: 'USD', amount: 16 }],
      after: [{ currency: 'USD', amount: 18 }],
    });
    expect(await amountsOf(...ids)).to.deep.equal([[18], [16]]);
    expect(await rerate({ contractId: id })).to.include({ events: 1, changed: 0 });
  });

  // spec/beyond.md R210
  it('a range of a contract reads no usage of lines that are deleted', async () => {
    const acme = await story.account('acme');
    const [serviceId, other] = [await story.service('Calls'), await story.service('Other')];
    await story.send(calls('acme', serviceId, 100), calls('acme', other, 100));
    const contract = await story.subscribe(acme, [serviceId, other]);
    const owners = () =>
      findOwners(tenant.scope.db.read, tenant.id, {
        from: '2026-03-01T00:00:00Z',
        to: '2026-04-01T00:00:00Z',
        accountId: null,
        contractId: contract.id,
        serviceId: null,
      });
    expect(await owners()).to.have.length(2);
    await tenant.delete(`${contract.path}/services/${contract.lines[0]?.id}`).expect(204);
    expect(await owners()).to.deep.equal([{ accountId: acme, serviceId: other }]);
    await tenant.put(contract.path, { services: [] }).expect(200);
    await tenant.delete(contract.path).expect(204);
    expect(await owners()).to.deep.equal([]);
  });

  // spec/beyond.md R202
  it('a cancel and an amend price nothing again but the event that is amended', async () => {
    await story.account('acme');
    const serviceId = await story.service('Calls');
    const messages = [1, 2, 3].map((hundreds) => calls('acme', serviceId, 100 * hundreds));
    const [a = '', b = '', c = ''] = await story.send(...messages);
    await version(serviceId, 0.5, '2026-03-01');
    await tenant.post(`/v1/usage-events/${a}/cancel`, { reason }).expect(200);
    expect(await amountsOf(a, b, c)).to.deep.equal([[], [2], [3]]);
    const message = { ...messages[1], dimensions: { api_calls: '10' } };
    await tenant.post(`/v1/usage-events/${b}/amend`, { reason, message }).expect(200);
    // 10 x 0.5 by what is in force now.
    expect(await amountsOf(b, c)).to.deep.equal([[5], [3]]);
    // 300 x 0.5.
    expect(await rerate()).to.deep.include({ events: 2, changed: 1 });
    expect(await amountsOf(b, c)).to.deep.equal([[5], [150]]);
  });

  // spec/beyond.md R210, R211
  it('a range says what it came to by account, and revives nothing that was rejected', async () => {
    const ids = { acme: await story.account('acme'), globex: await story.account('globex') };
    const serviceId = await story.service('Calls');
    const [, , rejected = ''] = await story.send(
      calls('acme', serviceId, 100),
      calls('globex', serviceId, 300),
      calls('initech', serviceId, 500),
    );
    await story.account('initech');
    await version(serviceId, 0.5, '2026-03-01');
    const output = await rerate();
    expect(output).to.deep.include({ events: 2, changed: 2, rejected: [] });
    expect(output.accounts).to.have.deep.members([
      { accountId: ids.acme, currency: 'USD', before: 1, after: 50 },
      { accountId: ids.globex, currency: 'USD', before: 3, after: 150 },
    ]);
    expect(await story.event(rejected)).to.include({ status: 'rejected' });
    expect(await summary(tenant)).to.include({ rated: 2, rejected: 1 });
  });

  // spec/beyond.md R211
  it('usage outside of a range that follows its counters counts in what has changed alone', async () => {
    await story.account('acme');
    const serviceId = await story.service('Metered', meteredService);
    const on = (day: string) => ({ eventTimestamp: `2026-03-${day}T12:00:00Z` });
    const [early = '', late = ''] = await story.send(
      calls('acme', serviceId, 1_500, on('05')),
      calls('acme', serviceId, 800, on('25')),
    );
    // 500 x 0.02 = 10 and 800 x 0.02 = 16.
    expect(await amountsOf(early, late)).to.deep.equal([[10], [16]]);
    // Until the 10th calls are of a contract, at 1 each; they count for its line and not for the account.
    const card = usdCard(priceOfEach('api_calls', 1));
    const days = { startDate: '2026-03-01', endDate: '2026-03-10' };
    await story.subscribe('acme', [{ serviceId, rateCards: [card] }], { number: 'C-1', ...days });
    const output = await rerate({ to: '2026-03-10' });
    const usd = (amount: number) => [{ currency: 'USD', amount }];
    expect(output).to.deep.include({
      events: 1,
      changed: 2,
      before: usd(10),
      after: usd(1_500),
    });
    expect(await amountsOf(early, late)).to.deep.equal([[1_500], [0]]);
  });

  // spec/beyond.md R201, R203
  it('a repeat is no event to correct: 409, by its own id', async () => {
    await story.account('acme');
    const serviceId = await story.service('Calls');
    const message = calls('acme', serviceId, 100);
    await story.send(message, message);
    const { body } = await tenant.get('/v1/usage-events?status=duplicate').expect(200);
    const [repeat] = body.data as { id: string }[];
    for (const [way, more] of [
      ['cancel', {}],
      ['amend', { message }],
    ] as const) {
      const path = `/v1/usage-events/${repeat?.id}/${way}`;
      const { body: fault } = await tenant.post(path, { reason, ...more }).expect(409);
      expect(fault.error.message).to.include('is a duplicate');
    }
    expect((await tenant.get('/v1/corrections').expect(200)).body.pagination.total).to.equal(0);
  });
});
