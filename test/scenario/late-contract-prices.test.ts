import { expect } from 'chai';
import { usage } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { priceOfEach, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

/** A contract is entered after its usage was rated: a price with a date counts by what holds now. */
describe('prices with a date of a contract that came late', () => {
  const story = useStory({ startsOn: '2028-01-10', forEachTest: true });
  const { tenant } = story;

  const callsAt = (unitRate: number) => usdCard(priceOfEach('api_calls', unitRate));
  const cardsOf = (serviceId: string) => `${external}/services/${serviceId}/rate-cards`;
  const affected = async (cards: string, fromDate: string, card: { readonly currency: string }) => {
    const { body } = await tenant
      .post(`${cards}/${card.currency}/versions`, { ...card, fromDate })
      .expect(201);
    return body.affectedEvents as number;
  };
  const sendOn = (account: string, serviceId: string, day: string, more: object = {}) =>
    story.send(usage(account, serviceId, { eventTimestamp: `${day}T00:00:00Z`, ...more }));
  const rerated = async (accountId: string) => {
    const data = { from: '2028-01-01', to: '2028-02-01', accountId, reason: 'Late', dryRun: true };
    const { body } = await tenant.post('/v1/workflows/rerate-usage/execute', { data }).expect(200);
    return body.output as object;
  };

  // spec/beyond.md R62
  it('count for its line what was rated before without it', async () => {
    const acme = await story.account('acme');
    await story.account('other');
    const service = await story.service('Calls');
    for (const account of ['acme', 'acme', 'acme', 'other', 'other']) {
      await sendOn(account, service, '2028-01-05');
    }
    await sendOn('acme', service, '2028-01-02');
    await sendOn('acme', service, '2027-12-05');
    const line = { serviceId: service, rateCards: [callsAt(0.5)] };
    const contract = await story.subscribe(acme, [line], { startDate: '2028-01-01' });
    const own = `${contract.path}/services/${contract.lines[0]?.id}/rate-cards`;
    expect(await affected(own, '2028-01-01', callsAt(0.6))).to.equal(4);
    expect(await affected(own, '2028-01-04', callsAt(0.7))).to.equal(3);
    // 100 calls each: one at 0.6, three at 0.7.
    expect(await rerated(acme)).to.deep.include({
      events: 4,
      changed: 4,
      after: [{ currency: 'USD', amount: 270 }],
    });
    // Two of the other account, and one of the time before the contract.
    expect(await affected(cardsOf(service), '2027-01-01', callsAt(0.02))).to.equal(3);
  }).timeout(120_000);

  // spec/beyond.md R62
  it('count in the currency that the contract brings', async () => {
    const acme = await story.account('acme');
    const euro = (unitRate: number) => ({ ...callsAt(unitRate), currency: 'EUR' });
    const service = await story.service('Calls', { rateCards: [callsAt(0.01), euro(0.02)] });
    await sendOn('acme', service, '2028-01-05');
    const cards = cardsOf(service);
    expect(await affected(cards, '2028-01-01', euro(0.03))).to.equal(0);
    await story.subscribe(acme, [service], { startDate: '2028-01-01', currency: 'EUR' });
    expect(await affected(cards, '2028-01-02', callsAt(0.04))).to.equal(0);
    expect(await affected(cards, '2028-01-02', euro(0.05))).to.equal(1);
    expect(await rerated(acme)).to.deep.include({
      events: 1,
      changed: 1,
      after: [
        { currency: 'EUR', amount: 5 },
        { currency: 'USD', amount: 0 },
      ],
    });
  }).timeout(120_000);

  // spec/beyond.md R62
  it('count of lines with instances what was used of theirs', async () => {
    const acme = await story.account('acme');
    const service = await story.service('Calls');
    const line = (serviceInstanceId: string, startDate: string) => ({
      serviceId: service,
      serviceInstanceId,
      startDate,
      rateCards: [callsAt(0.5)],
    });
    const lines = [line('a', '2028-01-01'), line('b', '2028-01-03')];
    const contract = await story.subscribe(acme, lines, { startDate: '2028-01-01' });
    for (const serviceInstanceId of ['a', 'a', 'b']) {
      await sendOn('acme', service, '2028-01-05', { serviceInstanceId });
    }
    const affectedOf = (index: number) =>
      affected(
        `${contract.path}/services/${contract.lines[index]?.id}/rate-cards`,
        '2028-01-01',
        callsAt(0.6),
      );
    expect([await affectedOf(0), await affectedOf(1)]).to.deep.equal([2, 1]);
  }).timeout(120_000);
});
