import { expect } from 'chai';
import { countRejections } from '../../../src/queries/usage/finding/usage-rejections.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../../support/billing/usage.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const path = '/v1/usage-events/rejections';

// spec/beyond.md R460
describe('rejected events by reason', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  let calls: string;
  let texts: string;
  before(async () => {
    await createAccount(tenant, 'acme');
    calls = await createService(tenant, 'Calls');
    texts = await createService(tenant, 'Texts');
    const wrong = (service: string, day: string) =>
      usage('acme', service, {
        eventTimestamp: `${day}T10:00:00Z`,
        dimensions: { api_calls: 'a lot' },
      });
    await send(
      tenant,
      usage('acme', calls),
      usage('nobody', calls, { eventTimestamp: '2026-03-01T10:00:00Z' }),
      wrong(calls, '2026-03-01'),
      wrong(calls, '2026-03-02'),
      wrong(texts, '2026-03-02'),
    );
    await waitUntilRated(tenant, 5);
  });

  const reasonsOf = async (query: string): Promise<string[]> => {
    const { body } = await tenant.get(`${path}?${query}`).expect(200);
    expect(body.isComplete).to.equal(true);
    const reasons = body.reasons as { code: string; events: number }[];
    expect(reasons.reduce((sum, { events }) => sum + events, 0)).to.equal(body.counted);
    return reasons.map(({ code, events }) => `${code} ${events}`);
  };

  it('are counted, the most frequent first', async () => {
    expect(await reasonsOf('')).to.deep.equal(['INVALID_DIMENSION 3', 'ACCOUNT_NOT_FOUND 1']);
  });

  it('are counted of a time, an account or a service', async () => {
    expect(await reasonsOf('from=2026-03-02&to=2026-03-02')).to.deep.equal(['INVALID_DIMENSION 2']);
    expect(await reasonsOf('accountId=acme')).to.deep.equal(['INVALID_DIMENSION 3']);
    expect(await reasonsOf('serviceId=Texts')).to.deep.equal(['INVALID_DIMENSION 1']);
    expect(await reasonsOf('from=2027-01-01')).to.deep.equal([]);
  });

  it('are the newest where there are more than are counted', async () => {
    const { counted, isComplete, reasons } = await countRejections(tenant.scope, {}, { max: 3 });
    expect({ counted, isComplete }).to.deep.equal({ counted: 3, isComplete: false });
    expect(reasons).to.have.length.within(1, 2);
    const all = await countRejections(tenant.scope, {}, { max: 5 });
    expect(all).to.include({ counted: 4, isComplete: true });
  });

  it('are of the tenant alone, and refuse what is no filter', async () => {
    const { body } = await (await instance.tenant()).get(path).expect(200);
    expect(body).to.deep.equal({ counted: 0, isComplete: true, reasons: [] });
    await tenant.get(`${path}?from=2026-03-02&to=2026-03-01`).expect(400);
    await tenant.get(`${path}?code=INVALID_DIMENSION`).expect(400);
  });
});
