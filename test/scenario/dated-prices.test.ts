import { expect } from 'chai';
import { usage } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { attribute, every, priceOfEach, subscription, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

/** Prices that are set before they hold, and after they should have held. */
describe('prices with a date', () => {
  const story = useStory({ startsOn: '2028-01-10', forEachTest: true });
  const { tenant } = story;
  beforeEach(() => story.travelTo('2028-01-10'));

  const cardsOf = (serviceId: string) => `${external}/services/${serviceId}/rate-cards`;
  const callsAt = (unitRate: number) => usdCard(priceOfEach('api_calls', unitRate));
  const addVersion = async (cards: string, fromDate: string, card: object) => {
    const { body } = await tenant.post(`${cards}/USD/versions`, { ...card, fromDate }).expect(201);
    return body as { versionNo: number; affectedEvents: number; isCurrent: boolean };
  };
  const versionsOf = async (cards: string) => {
    const { body } = await tenant.get(`${cards}/USD/versions`).expect(200);
    return body.content.map(
      (version: { versionNo: number; fromDate: string; toDate?: string; isCurrent: boolean }) =>
        `${version.versionNo} ${version.fromDate}..${version.toDate ?? ''}${version.isCurrent ? ' current' : ''}`,
    ) as string[];
  };
  const rateOf = async (path: string) =>
    (await tenant.get(`${path}/USD`).expect(200)).body.rows[0].unitRate as number;
  const amountOf = async (externalId: string) =>
    (await story.event(externalId)).ratedTransactions[0].amount as number;
  const sendOn = async (account: string, serviceId: string, day: string) => {
    const [id = ''] = await story.send(
      usage(account, serviceId, { eventTimestamp: `${day}T00:00:00Z` }),
    );
    return id;
  };
  const simulate = async (account: string, serviceId: string, day: string) => {
    const message = usage(account, serviceId, { eventTimestamp: `${day}T00:00:00Z` });
    const { body } = await tenant.post('/v1/usage-events/simulate', { message }).expect(200);
    return body.ratedTransactions[0].amount as number;
  };

  // spec/beyond.md R60, R61
  it('come into force with the first event of their day, and the card is then another', async () => {
    await story.account('acme');
    const service = await story.service('Calls');
    const cards = cardsOf(service);
    const version = await addVersion(cards, '2028-02-01', callsAt(0.03));
    expect(version).to.include({ versionNo: 2, isCurrent: false, affectedEvents: 0 });
    expect(await versionsOf(cards)).to.deep.equal([
      '2 2028-02-01..',
      '1 2028-01-10..2028-01-31 current',
    ]);
    // 100 calls each: at 0.01 until January is over, then at 0.03.
    expect(await simulate('acme', service, '2028-01-31')).to.equal(1);
    expect(await simulate('acme', service, '2028-02-01')).to.equal(3);
    story.travelTo('2028-01-31T23:59:59Z');
    expect(await rateOf(cards)).to.equal(0.01);
    expect(await amountOf(await sendOn('acme', service, '2028-01-31'))).to.equal(1);
    story.travelTo('2028-02-01T00:00:00Z');
    expect(await rateOf(cards)).to.equal(0.03);
    expect(await versionsOf(cards)).to.deep.equal([
      '2 2028-02-01.. current',
      '1 2028-01-10..2028-01-31',
    ]);
    expect(await amountOf(await sendOn('acme', service, '2028-02-01'))).to.equal(3);
    // What comes late is priced by its own day.
    expect(await amountOf(await sendOn('acme', service, '2028-01-31'))).to.equal(1);
    // It can be edited and put like any other, and removed no more.
    await story.approveService(service);
    await tenant.put(`${cards}/USD`, { ...callsAt(0.04), fromDate: '2028-01-10' }).expect(400);
    await tenant.put(`${cards}/USD`, { ...callsAt(0.04), fromDate: '2028-02-01' }).expect(200);
    await tenant.delete(`${cards}/USD/versions/2`).expect(409);
    expect(await versionsOf(cards)).to.deep.equal([
      '3 2028-02-01.. current',
      '2 2028-02-01..2028-02-01',
      '1 2028-01-10..2028-01-31',
    ]);
  }).timeout(120_000);

  // spec/beyond.md R60
  it('hold for charges of a billing run, by the days that are charged', async () => {
    const acme = await story.account('acme');
    const plan = await story.service('Plan', subscription('Plan', 30));
    await story.subscribe(acme, [{ serviceId: plan, ...every('Monthly') }], {
      startDate: '2028-01-01',
    });
    await addVersion(cardsOf(plan), '2028-02-01', usdCard(priceOfEach('Plan', 45)));
    const [january, february] = [
      await story.bill(story.jumpMonth()),
      await story.bill(story.jumpMonth()),
    ];
    expect(january.lines).to.deep.equal(['Plan 2028-01-01..2028-01-31 30']);
    expect(february.lines).to.deep.equal(['Plan 2028-02-01..2028-02-29 45']);
  }).timeout(120_000);

  // spec/beyond.md R62
  it('of the past say which usage they touch, and rate nothing again', async () => {
    await story.account('acme');
    const service = await story.service('Calls');
    const cards = cardsOf(service);
    await addVersion(cards, '2028-02-01', callsAt(0.03));
    story.travelTo('2028-02-20');
    const days = ['2027-12-31', '2028-01-09', '2028-01-10', '2028-01-31', '2028-02-01'];
    const sent: string[] = [];
    for (const day of days) sent.push(await sendOn('acme', service, day));
    // Between the first version and the second: 15 to 31 January has one event.
    const mid = await addVersion(cards, '2028-01-15', callsAt(0.02));
    expect(mid).to.include({ versionNo: 3, affectedEvents: 1, isCurrent: false });
    // The earliest one holds for all days before, too: 31 December and 9 January.
    const first = await addVersion(cards, '2028-01-01', callsAt(0.05));
    expect(first).to.include({ versionNo: 4, affectedEvents: 2, isCurrent: false });
    // From 10 February on there is none; of today, none.
    expect(await addVersion(cards, '2028-02-10', callsAt(0.06))).to.include({
      affectedEvents: 0,
      isCurrent: true,
    });
    expect(await versionsOf(cards)).to.deep.equal([
      '5 2028-02-10.. current',
      '2 2028-02-01..2028-02-09',
      '3 2028-01-15..2028-01-31',
      '1 2028-01-10..2028-01-14',
      '4 2028-01-01..2028-01-09',
    ]);
    const amounts = [];
    for (const id of sent) amounts.push(await amountOf(id));
    expect(amounts).to.deep.equal([1, 1, 1, 1, 3]);
    // New usage of these days, 100 calls each.
    const again = [];
    for (const day of [...days, '2028-02-10']) again.push(await simulate('acme', service, day));
    expect(again).to.deep.equal([5, 5, 1, 2, 3, 6]);
  }).timeout(120_000);

  // spec/beyond.md R62
  it('count for a line what its exception card prices, and for the catalog the rest', async () => {
    const acme = await story.account('acme');
    await story.account('other');
    const service = await story.service('Calls');
    const line = { serviceId: service, rateCards: [callsAt(0.5)], startDate: '2027-01-01' };
    const contract = await story.subscribe(acme, [line], { currency: 'USD' });
    for (const account of ['acme', 'acme', 'acme', 'other', 'other']) {
      await sendOn(account, service, '2028-01-05');
    }
    await sendOn('acme', service, '2027-12-05');
    const own = `${contract.path}/services/${contract.lines[0]?.id}/rate-cards`;
    // The exception card began today: an earlier version of it has all days before its second one.
    expect(await addVersion(own, '2028-01-01', callsAt(0.6))).to.include({ affectedEvents: 4 });
    expect(await addVersion(own, '2028-01-04', callsAt(0.7))).to.include({ affectedEvents: 3 });
    expect(await addVersion(cardsOf(service), '2028-01-01', callsAt(0.02))).to.include({
      affectedEvents: 2,
    });
    expect(await simulate('acme', service, '2028-01-05')).to.equal(70);
  }).timeout(120_000);

  // spec/beyond.md R63
  it('stay on a line that a contract is written with again', async () => {
    const acme = await story.account('acme');
    const service = await story.service('Calls');
    const contract = await story.subscribe(acme, [
      { serviceId: service, rateCards: [callsAt(0.5)] },
    ]);
    const own = `${contract.path}/services/${contract.lines[0]?.id}/rate-cards`;
    await addVersion(own, '2028-03-01', callsAt(0.6));
    const { body: whole } = await tenant.get(contract.path).expect(200);
    await story.changeContract(contract, { services: whole.services });
    const { body: written } = await tenant.get(contract.path).expect(200);
    const cards = `${contract.path}/services/${written.services[0].id}/rate-cards`;
    expect(await versionsOf(cards)).to.deep.equal([
      '2 2028-03-01..',
      '1 2028-01-10..2028-02-29 current',
    ]);
    expect(await simulate('acme', service, '2028-03-01')).to.equal(60);
  });

  // spec/beyond.md R63
  it('of the past stay on such a line, too, and price what comes late', async () => {
    const acme = await story.account('acme');
    const service = await story.service('Calls');
    const contract = await story.subscribe(
      acme,
      [{ serviceId: service, rateCards: [callsAt(0.5)] }],
      { startDate: '2028-01-01' },
    );
    const own = `${contract.path}/services/${contract.lines[0]?.id}/rate-cards`;
    await addVersion(own, '2028-01-03', callsAt(0.4));
    await addVersion(own, '2028-01-01', callsAt(0.3));
    await addVersion(own, '2028-03-01', callsAt(0.6));
    // Of two that begin on one day the later one prices.
    await tenant.put(`${own}/USD`, callsAt(0.7)).expect(200);
    story.travelTo('2028-01-20');
    const days = ['2028-01-02', '2028-01-05', '2028-01-10', '2028-03-01'];
    const prices = async () => {
      const amounts = [];
      for (const day of days) amounts.push(await simulate('acme', service, day));
      return amounts;
    };
    // 100 calls each.
    expect(await prices()).to.deep.equal([30, 40, 70, 60]);
    const { body: whole } = await tenant.get(contract.path).expect(200);
    await story.changeContract(contract, { ...whole, poNumber: 'PO-1' });
    expect(await prices()).to.deep.equal([30, 40, 70, 60]);
    const { body: written } = await tenant.get(contract.path).expect(200);
    const cards = `${contract.path}/services/${written.services[0].id}/rate-cards`;
    expect(await versionsOf(cards)).to.deep.equal([
      '4 2028-03-01..',
      '3 2028-01-10..2028-02-29 current',
      '2 2028-01-03..2028-01-09',
      '1 2028-01-01..2028-01-02',
    ]);
    // The card goes on as it was: a version of a day, and a PUT that begins today.
    await addVersion(cards, '2028-01-15', callsAt(0.8));
    await tenant.put(`${cards}/USD`, callsAt(0.9)).expect(200);
    expect(await versionsOf(cards)).to.deep.equal([
      '4 2028-03-01..',
      '6 2028-01-20..2028-02-29 current',
      '5 2028-01-15..2028-01-19',
      '3 2028-01-10..2028-01-14',
      '2 2028-01-03..2028-01-09',
      '1 2028-01-01..2028-01-02',
    ]);
  });

  it('of the past on such a line lose the rows of attributes that it has no more', async () => {
    const acme = await story.account('acme');
    const service = await story.service('Calls', {
      priceableAttributes: ['api_calls', 'texts'].map((name) => attribute(name)),
      rateCards: [usdCard(priceOfEach('api_calls', 0.01), priceOfEach('texts', 0.02))],
    });
    const both = usdCard(priceOfEach('api_calls', 0.1), priceOfEach('texts', 0.2));
    const contract = await story.subscribe(acme, [{ serviceId: service, rateCards: [both] }]);
    story.travelTo('2028-01-20');
    const line = `${contract.path}/services/${contract.lines[0]?.id}`;
    await tenant.put(`${line}/rate-cards/USD`, callsAt(0.5)).expect(200);
    const { body: attributes } = await tenant.get(`${line}/priceable-attributes`).expect(200);
    const texts = attributes.content.find(({ name }: { name: string }) => name === 'texts');
    await tenant.delete(`${line}/priceable-attributes/${texts.id}`).expect(204);
    const { body: whole } = await tenant.get(contract.path).expect(200);
    await story.changeContract(contract, { ...whole, poNumber: 'PO-1' });
    expect(await simulate('acme', service, '2028-01-12')).to.equal(10);
    expect(await simulate('acme', service, '2028-01-20')).to.equal(50);
  });
});
