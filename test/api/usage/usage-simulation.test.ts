import { expect } from 'chai';
import {
  createAccount,
  createService,
  event,
  meteredService,
  rate,
  summary,
  usage,
  waitUntilRated,
  type Message,
} from '../../support/billing/usage.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

type Shown = Record<string, unknown> & { ratedTransactions: Record<string, unknown>[] };

/** What a simulation and a rating must have in common: everything but ids, places and times. */
function comparable({ ratedTransactions, ...shown }: Shown) {
  return {
    ...shown,
    id: 0,
    offset: 0,
    receivedAt: 0,
    processedAt: 0,
    workflowId: 0,
    runId: 0,
    morgId: 0,
    ratedTransactions: ratedTransactions.map((charge) => ({
      ...charge,
      id: 0,
      ratedAt: 0,
      dimensions: (charge['dimensions'] as object[]).map((each) => ({
        ...each,
        id: 0,
        transactionId: 0,
      })),
    })),
  };
}

describe('a simulation of usage', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  let serviceId: string;
  before(async () => {
    await createAccount(tenant, 'acme', { number: 'A-7' });
    serviceId = await createService(tenant, 'Metered', {
      ...meteredService,
      pricingLogic: [
        {
          name: 'Main',
          priceOutput: 'all',
          transactionDimension: 'api_calls',
          steps: [
            { name: 'base', formula: 'Price(api_calls, api_calls)' },
            { name: 'all', formula: 'base + 0.5' },
          ],
        },
      ],
    });
  });

  const simulate = async (body: object) => {
    const answer = await tenant.post('/v1/usage-events/simulate', body).expect(200);
    return answer.body as unknown;
  };
  const calls = (count: number): Message =>
    usage('acme', serviceId, { dimensions: { api_calls: String(count) } });

  // spec/rating.md R66
  it('gives what rating then gives, event after event', async () => {
    const messages = [900, 200, 0, 9_000, 1, 5_000].map(calls);
    const simulated = (await simulate(messages.map((message) => ({ message })))) as Shown[];
    await tenant
      .post(
        '/v1/ingest/usage/batch',
        messages.map((message) => ({ message })),
      )
      .expect(200);
    await waitUntilRated(tenant, messages.length);
    for (const [index, message] of messages.entries()) {
      const rated = (await event(tenant, String(message.externalTransactionId))) as Shown;
      const expected = simulated[index];
      expect(expected && comparable(expected)).to.deep.equal(comparable(rated));
    }
    // 0.5 each; 900 and 100 free; 100 at 0.02 = 2; 8,900 at 0.02 = 178 and 100 at 0.01 = 1; 0.01; 50.
    const amounts = simulated.map(({ ratedTransactions }) => ratedTransactions[0]?.['amount']);
    expect(amounts).to.deep.equal([0.5, 2.5, 0.5, 179.5, 0.51, 50.5]);
  });

  // spec/rating.md R66
  it('writes nothing, and starts where the counters stand', async () => {
    await rate(tenant, calls(20_000));
    const before = await summary(tenant);
    for (let round = 0; round < 2; round += 1) {
      const shown = (await simulate({ key: 'k', message: calls(100) })) as Shown;
      expect(shown).to.include({ status: 'rated', id: null, offset: null, workflowId: null });
      // The counter is above 10,000: 100 at 0.01, and 0.5.
      expect(shown.ratedTransactions[0]).to.include({ amount: 1.5, id: null, matches: true });
    }
    expect(await summary(tenant)).to.deep.equal(before);
  });

  it('answers what is invalid as rejected, in its place', async () => {
    const shown = (await simulate([
      { message: calls(1) },
      { message: { ...calls(1), billingAccountRef: 'nobody' } },
      { message: { ...calls(1), dimensions: {} } },
      { nothing: true },
      5,
    ])) as Shown[];
    expect(shown.map(({ code }) => code)).to.deep.equal([
      null,
      'ACCOUNT_NOT_FOUND',
      'INVALID_EVENT',
      'INVALID_EVENT',
      'INVALID_EVENT',
    ]);
    expect(await simulate([])).to.deep.equal([]);
  });

  it('refuses what is neither an event nor an array, and more than 1,000', async () => {
    const path = '/v1/usage-events/simulate';
    const manyDigits = ['-4.6730212662449e+16', `1${'0'.repeat(80)}`];
    for (const body of [
      '5',
      ...manyDigits,
      '"x"',
      'null',
      '{',
      JSON.stringify(Array(1001).fill({})),
    ]) {
      const answer = await tenant.post(path, body).expect(400);
      expect(answer.body.error.code).to.equal('VALIDATION_ERROR');
    }
  });
});
