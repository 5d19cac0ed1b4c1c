import { expect } from 'chai';
import { external } from '../../support/servers/instance.js';
import {
  createAccount,
  createService,
  event,
  send,
  usage,
  waitUntilRated,
} from '../../support/billing/usage.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

interface Simulated {
  readonly status: string;
  readonly code: string | null;
  readonly reason: string | null;
  readonly ratedTransactions: { readonly amount: number; readonly explanation: unknown }[];
}

/** A formula of so many divisions of 60 digits: 12 operations each. */
const divisions = (count: number): string => `1${'/7'.repeat(count)}`;

/** A logic whose steps take so many divisions. */
const logicOf = (name: string, ...counts: number[]) => ({
  name,
  transactionDimension: 'api_calls',
  priceOutput: 'price',
  steps: [
    ...counts.map((count, index) => ({ name: `step${index + 1}`, formula: divisions(count) })),
    { name: 'price', formula: '1' },
  ],
});

describe('the budget of formulas', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  before(async () => {
    await createAccount(tenant, 'acme');
  });

  const simulate = (serviceId: string, count: number) =>
    tenant.post(
      '/v1/usage-events/simulate',
      Array.from({ length: count }, () => ({ message: usage('acme', serviceId) })),
    );

  it('refuses logic that may take more when it is saved, and names the step', async () => {
    const serviceId = await createService(tenant, 'Dear');
    const { body } = await tenant
      .post(`${external}/services/${serviceId}/pricing-logic`, logicOf('Main', 900, 900))
      .expect(400);
    // 900 * 12 = 10,800 and one for the step; twice.
    expect(JSON.stringify(body)).to.match(/step2.*21602 operations.*at most 20000/);
  });

  it('rejects events whose logics together take more, in rating and in a simulation', async () => {
    const serviceId = await createService(tenant, 'Two', {
      pricingLogic: [logicOf('One', 900), logicOf('Other', 900)],
    });
    const { body } = await simulate(serviceId, 1).expect(200);
    const [simulated] = body as Simulated[];
    expect(simulated).to.include({ status: 'rejected', code: 'FORMULA_TOO_EXPENSIVE' });
    expect(simulated?.reason).to.match(/more than 20000 operations/);
    const [id = ''] = await send(tenant, usage('acme', serviceId));
    await waitUntilRated(tenant, 1);
    expect(await event(tenant, id)).to.include({
      status: 'rejected',
      code: 'FORMULA_TOO_EXPENSIVE',
    });
  });

  it('counts the tiers that a formula prices', async () => {
    // 1,000 tiers are 3,000 operations: seven prices of the row are too many, six are not.
    const rateCardTiers = Array.from({ length: 1_000 }, (_none, index) => ({
      tierNum: index + 1,
      tierMinVal: index,
      tierUnitRate: 1,
      ...(index === 999 ? {} : { tierMaxVal: index + 1 }),
    }));
    const row = { priceDimName: 'api_calls', label: 'Calls', priceMethod: 'TIERED', rateCardTiers };
    const price = (times: number) => Array.from({ length: times }, () => 'Price(api_calls, 2)');
    const of = (times: number) =>
      createService(tenant, `Tiers ${times}`, {
        rateCards: [{ currency: 'USD', rows: [row] }],
        pricingLogic: [
          {
            name: 'Main',
            transactionDimension: 'api_calls',
            priceOutput: 'price',
            steps: [{ name: 'price', formula: price(times).join('+') }],
          },
        ],
      });
    const { body: few } = await simulate(await of(6), 1).expect(200);
    // Six times two units at 1 each.
    expect((few as Simulated[])[0]?.ratedTransactions[0]?.amount).to.equal(12);
    const { body: many } = await simulate(await of(7), 1).expect(200);
    expect((many as Simulated[])[0]).to.include({ code: 'FORMULA_TOO_EXPENSIVE' });
  });

  it('holds for a whole simulation, which leaves others their turns', async () => {
    const serviceId = await createService(tenant, 'At the budget', {
      pricingLogic: [logicOf('Main', 800, 800)],
    });
    const began = performance.now();
    let [last, longest, isDone] = [began, 0, false];
    const look = (): void => {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
      if (!isDone) setImmediate(look);
    };
    look();
    // 19,203 operations each: 104 events are within two millions, 105 are not.
    const answer = await simulate(serviceId, 200).expect(400);
    isDone = true;
    expect(JSON.stringify(answer.body)).to.match(
      /2000000 operations together.*at most 105 of these/,
    );
    // Nearly all of its time is arithmetic: in one piece it would be the longest turn.
    expect(longest).to.be.lessThan((performance.now() - began) / 2);
    await simulate(serviceId, 100).expect(200);
  });

  it('leaves out explanations that would make an answer larger than 8 MiB', async () => {
    const filler = ' '.repeat(1_900);
    const steps = Array.from({ length: 20 }, (_none, index) => ({
      name: `step${index}`,
      formula: `${filler}1`,
    }));
    const serviceId = await createService(tenant, 'Wordy', {
      pricingLogic: [
        { name: 'Main', transactionDimension: 'api_calls', priceOutput: 'step0', steps },
      ],
    });
    const { body, text } = await simulate(serviceId, 400).expect(200);
    const events = body as Simulated[];
    // Each explanation has some 40 KB: about 210 of them are in 8 MiB.
    const explained = events.map((one) => one.ratedTransactions[0]?.explanation !== null);
    expect(explained.filter(Boolean).length).to.be.within(150, 210);
    expect(explained.slice(0, 150).every(Boolean)).to.equal(true);
    expect(events.every((one) => one.ratedTransactions[0]?.amount === 1)).to.equal(true);
    expect(text.length).to.be.lessThan(9 * 1024 * 1024);
  });
});
