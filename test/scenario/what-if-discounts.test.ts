import { expect } from 'chai';
import { usage } from '../support/billing/usage.js';
import { useStory } from '../support/story/story.js';

/** What usage would cost with a discount more. */
describe('what if: discounts', () => {
  const story = useStory({ startsOn: '2026-04-02', forEachTest: true });
  const { tenant } = story;
  const usd = (amount: number) => [{ currency: 'USD', amount }];
  const execute = async (changes: readonly object[], status = 200) => {
    const data = { name: 'Try', from: '2026-03-01', to: '2026-04-01', changes };
    const { body } = await tenant.post('/v1/workflows/reprice/execute', { data }).expect(status);
    return body;
  };
  const reprice = async (...changes: readonly object[]) => {
    const body = await execute(changes);
    expect(body.status, JSON.stringify(body.error)).to.equal('completed');
    return body.output;
  };
  const tried = (adjustment: object) => ({
    kind: 'adjustment',
    adjustment: { from: '2026-03-15', ...adjustment },
  });
  const calls = (account: string, serviceId: string, day: string, api_calls: string) =>
    usage(account, serviceId, {
      eventTimestamp: `2026-03-${day}T12:00:00Z`,
      dimensions: { api_calls },
    });
  const get = async (path: string) => (await tenant.get(`/v1/repricings${path}`).expect(200)).body;

  // spec/beyond.md R148
  it('come off beside those that charges were rated with, from their day on', async () => {
    const accountId = await story.account('acme');
    await story.account('globex');
    const serviceId = await story.service('Calls');
    const off = {
      accountId,
      kind: 'discountAmount',
      value: 0.5,
      currency: 'USD',
      from: '2026-03-01',
    };
    await tenant.post('/v1/adjustments', off).expect(201);
    await story.send(
      calls('acme', serviceId, '10', '100'),
      calls('acme', serviceId, '20', '200'),
      calls('globex', serviceId, '20', '100'),
    );
    // 0.50 off of what is to come is not tried: charges keep what they were rated with.
    await tenant.post('/v1/adjustments', { ...off, value: 0.25 }).expect(201);
    const ten = tried({ accountId: 'acme', kind: 'discountPercent', value: 10 });
    const output = await reprice(ten);
    // 1.00 - 0.50 as before the 15th; 2.00 - 10 % = 1.80, - 0.50; globex 1.00
    expect(output).to.deep.include({ events: 3, before: usd(3), after: usd(2.8), rejected: [] });
    // acme 2.00 -> 1.80
    expect(output.change).to.deep.include({ min: -10, max: 0 });
    const { data } = await get(`/${output.repricingId}/accounts/${accountId}/charges`);
    expect(data.map((one: { after: number }) => one.after)).to.deep.equal([0.5, 1.3]);
    const { afterExplanation, firstDifference } = data[1];
    expect(
      afterExplanation.adjustments.map(({ kind, before, after }: Record<string, string>) => [
        kind,
        before,
        after,
      ]),
    ).to.deep.equal([
      ['discountPercent', '2', '1.8'],
      ['discountAmount', '1.8', '1.3'],
    ]);
    expect(firstDifference.step).to.include('discountPercent');

    const rows = [
      { priceDimName: 'api_calls', label: 'API calls', priceMethod: 'QUANTITY', unitRate: 0.02 },
    ];
    const card = { kind: 'rateCard', serviceId, currency: 'USD', rows };
    // With what is in force now, so 0.75 off: 2.00 - 0.75; 4.00 - 10 % - 0.75; globex 2.00
    expect((await reprice(card, ten)).after).to.deep.equal(usd(1.25 + 2.85 + 2));

    const promote = `/v1/repricings/${output.repricingId}/promote`;
    const { body: promoted } = await tenant.post(promote, { fromDate: '2026-05-01' }).expect(200);
    const [{ adjustmentId, kind }] = promoted.versions;
    expect(kind).to.equal('adjustment');
    const { body: made } = await tenant.get(`/v1/adjustments/${adjustmentId}`).expect(200);
    expect(made).to.deep.include({
      accountId,
      kind: 'discountPercent',
      value: 10,
      from: '2026-05-01',
      to: null,
    });
  });

  // spec/beyond.md R148
  it('of a contract, of a line, of a service', async () => {
    const acme = await story.account('acme');
    const [one, other] = [await story.service('One'), await story.service('Other')];
    const { id: contractId, lines } = await story.subscribe(acme, [one, other], {
      startDate: '2026-01-01',
      currency: 'USD',
    });
    await story.send(calls('acme', one, '20', '100'), calls('acme', other, '20', '300'));
    const half = { kind: 'discountPercent', value: 50 };
    const afterOf = async (adjustment: object) => (await reprice(tried(adjustment))).after;
    // 1.00 and 3.00
    expect(await afterOf({ ...half, contractId })).to.deep.equal(usd(2));
    expect(await afterOf({ ...half, contractServiceId: lines[1]?.id })).to.deep.equal(usd(2.5));
    expect(await afterOf({ ...half, contractId, serviceId: one })).to.deep.equal(usd(3.5));
    expect(await afterOf({ ...half, contractId, currency: 'EUR' })).to.deep.equal(usd(4));
    expect(await afterOf({ ...half, contractId, to: '2026-03-20' })).to.deep.equal(usd(4));
    // More usage, and an amount off each charge: 2.00 - 1.50, 6.00 - 1.50
    const twice = { kind: 'usage', factor: 2 };
    const off = tried({ contractId, kind: 'discountAmount', value: 1.5 });
    expect((await reprice(twice, off)).after).to.deep.equal(usd(5));
  });

  // spec/beyond.md R148, R220
  it('what POST /v1/adjustments would refuse is refused, with its place', async () => {
    const accountId = await story.account('acme');
    const serviceId = await story.service('Calls');
    await story.send(calls('acme', serviceId, '20', '100'));
    const { id: contractId } = await story.subscribe(accountId, [serviceId], {
      startDate: '2026-01-01',
    });
    const ten = { accountId, kind: 'discountPercent', value: 10 };
    const refused: readonly (readonly [object, string])[] = [
      [{ ...ten, contractId }, 'contractId'],
      [{ kind: 'discountPercent', value: 10 }, 'accountId'],
      [{ ...ten, value: 101 }, 'value'],
      [{ ...ten, period: 'Monthly' }, 'period'],
      [{ ...ten, from: '2026-03-15', to: '2026-03-15' }, 'to'],
      [{ ...ten, serviceId: '01939c6e-7a00-7000-8000-00000000beef' }, 'serviceId'],
      [{ ...ten, kind: 'discountAmount' }, 'currency'],
      [{ ...ten, kind: 'minimum', currency: 'USD', period: 'One Time' }, 'period'],
    ];
    for (const [adjustment, field] of refused) {
      const { error } = await execute([tried(adjustment)], 400);
      expect(error.details.field, JSON.stringify(adjustment)).to.equal(
        `changes[0].adjustment.${field}`,
      );
    }
    await execute([{ ...ten, kind: 'adjustment' }], 400);
    expect((await get('')).data).to.deep.equal([]);
    const { repricingId } = await reprice(tried({ ...ten, to: '2026-04-01' }));
    // It would end before it begins.
    await tenant
      .post(`/v1/repricings/${repricingId}/promote`, { fromDate: '2026-05-01' })
      .expect(400);
  });
});
