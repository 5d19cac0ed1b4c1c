import { expect } from 'chai';
import { usage } from '../support/billing/usage.js';
import { priceOfEach, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

// spec/beyond.md R311
describe('adjustments that are made or changed late', () => {
  const story = useStory({ forEachTest: true, startsOn: '2026-11-24' });
  const { tenant } = story;

  const adjust = async (body: object): Promise<string> => {
    const given = { from: '2026-01-01', currency: 'USD', ...body };
    return (await tenant.post('/v1/adjustments', given).expect(201)).body.id as string;
  };
  const calls = (day: string, count: number, of: string) =>
    usage('acme', of, {
      eventTimestamp: `2026-${day}T12:00:00Z`,
      dimensions: { api_calls: String(count) },
    });
  const ofOne = () => story.service('Calls', { rateCards: [usdCard(priceOfEach('api_calls', 1))] });
  const bill = async (month: string): Promise<readonly string[]> =>
    (await story.bill(`2026-${month}`)).lines;

  it('bill the period of the run, and none before it', async () => {
    const serviceId = await ofOne();
    const accountId = await story.account('acme');
    await adjust({ accountId, kind: 'minimum', value: 1 });
    const draft = (await tenant.get('/v1/accounts/acme/next-invoice').expect(200)).body;
    expect(draft.invoices[0]).to.include({ amount: 1 });
    expect(await bill('11')).to.deep.equal(['Minimum of 1 (2026-11) 2026-11-01..2026-11-30 1']);
    // What comes late of a month that was left out makes nothing of it due.
    await story.send(calls('03-10', 0.5, serviceId));
    expect(await bill('12')).to.deep.equal([
      'Minimum of 1 (2026-12) 2026-12-01..2026-12-31 1',
      'api_calls 2026-03-10..2026-03-10 0.5',
    ]);
    // Who bills March itself asks for it.
    expect(await bill('03')).to.deep.equal(['Minimum of 1 (2026-03) 2026-03-01..2026-03-31 0.5']);
    expect(await bill('03')).to.deep.equal([]);
  });

  it('leave what was billed before they were made', async () => {
    const serviceId = await ofOne();
    const accountId = await story.account('acme');
    await story.send(calls('09-10', 150, serviceId), calls('10-10', 150, serviceId));
    await bill('09');
    await bill('10');
    const oneDay = { period: 'Daily', from: '2026-11-30', to: '2026-12-01' };
    await adjust({ accountId, kind: 'minimum', value: 20, ...oneDay });
    await adjust({ accountId, kind: 'minimum', value: 60 });
    await adjust({ accountId, kind: 'maximum', value: 100 });
    await adjust({ accountId, kind: 'commitment', value: 900, period: 'Quarterly' });
    await story.send(calls('09-11', 7, serviceId), calls('11-10', 130, serviceId));
    expect(await bill('11')).to.deep.equal([
      'Maximum of 100 (2026-11) 2026-11-01..2026-11-30 -30',
      'Minimum of 20 (2026-11-30) 2026-11-30..2026-11-30 20',
      'api_calls 2026-09-11..2026-11-10 137',
    ]);
    // The fourth quarter ends with December, and counts whole: 150 of October, 130 - 30 + 20 of November and
    // the 60 of December leave 570.
    expect(await bill('12')).to.deep.equal([
      'Commitment of 900 (2026-10-01 to 2026-12-31) 2026-10-01..2026-12-31 570',
      'Minimum of 60 (2026-12) 2026-12-01..2026-12-31 60',
    ]);
  });

  it('hold a maximum for months that are billed for the first time', async () => {
    const serviceId = await ofOne();
    const accountId = await story.account('acme');
    await adjust({ accountId, kind: 'maximum', value: 100 });
    await story.send(calls('09-10', 150, serviceId), calls('11-10', 30, serviceId));
    expect(await bill('11')).to.deep.equal([
      'Maximum of 100 (2026-09) 2026-09-01..2026-09-30 -50',
      'api_calls 2026-09-10..2026-11-10 180',
    ]);
    await story.send(calls('09-11', 10, serviceId));
    expect(await bill('12')).to.deep.equal([
      'Maximum of 100 (2026-09) 2026-09-01..2026-09-30 -10',
      'api_calls 2026-09-11..2026-09-11 10',
    ]);
  });

  it('of a quarter leave what a minimum of its first month came to', async () => {
    const serviceId = await ofOne();
    const accountId = await story.account('acme');
    await adjust({ accountId, kind: 'maximum', value: 100, period: 'Quarterly' });
    await adjust({ accountId, kind: 'minimum', value: 20 });
    await story.send(calls('10-10', 90, serviceId), calls('11-10', 90, serviceId));
    expect(await bill('10')).to.deep.equal(['api_calls 2026-10-10..2026-10-10 90']);
    expect(await bill('11')).to.deep.equal([
      'Maximum of 100 (2026-10-01 to 2026-12-31) 2026-10-01..2026-11-30 -80',
      'api_calls 2026-11-10..2026-11-10 90',
    ]);
    // Late usage of October brings its minimum into sight: it came to 95, and the quarter to 100.
    await story.send(calls('10-11', 5, serviceId));
    expect(await bill('12')).to.deep.equal([
      'Maximum of 100 (2026-10-01 to 2026-12-31) 2026-10-01..2026-12-31 -5',
      'Minimum of 20 (2026-12) 2026-12-01..2026-12-31 20',
      'api_calls 2026-10-11..2026-10-11 5',
    ]);
  });

  it('of a quarter hold where one of its months is billed again', async () => {
    const serviceId = await ofOne();
    const accountId = await story.account('acme');
    await adjust({ accountId, kind: 'maximum', value: 100, period: 'Quarterly' });
    await story.send(calls('10-10', 90, serviceId), calls('11-10', 90, serviceId));
    await bill('10');
    await bill('11');
    await story.send(calls('10-11', 5, serviceId));
    expect(await bill('10')).to.deep.equal([
      'Maximum of 100 (2026-10-01 to 2026-12-31) 2026-10-01..2026-11-30 -5',
      'api_calls 2026-10-11..2026-10-11 5',
    ]);
  });

  it('correct a period by what was agreed when it was billed', async () => {
    const serviceId = await ofOne();
    const accountId = await story.account('acme');
    const id = await adjust({ accountId, kind: 'minimum', value: 50 });
    const [october = ''] = await story.send(calls('10-10', 70, serviceId));
    expect(await bill('10')).to.deep.equal(['api_calls 2026-10-10..2026-10-10 70']);
    await tenant.put(`/v1/adjustments/${id}`, { value: 80 }).expect(200);
    await tenant.post(`/v1/usage-events/${october}/cancel`, { reason: 'A test.' }).expect(200);
    // October comes to the 50 that were agreed for it, November to the 80.
    expect(await bill('11')).to.deep.equal([
      'Minimum of 50 (2026-10) 2026-10-01..2026-10-31 50',
      'Minimum of 80 (2026-11) 2026-11-01..2026-11-30 80',
      'api_calls (correction of INV-000001) 2026-10-10..2026-10-10 -70',
    ]);
  });
});
