import { expect } from 'chai';
import { demoAccount, demoService } from '../../src/cli/demo/demo-catalog.js';
import { KillableProduct } from '../start/killable.js';
import { until } from '../start/workbench.js';

const external = '/api/v1/external';
const callers = 50;
/** Of calls: each event has 100. */
const thresholds = [100, 500, 1_000, 2_000, 3_000, 5_000, 8_000, 13_000];

/** A hold, and the event that commits it: what is sent again is the same to its last character. */
interface Hold {
  readonly id: string;
  readonly event: object;
}

/** Money that is held and drawn by 50 callers at once, under kill -9 at many moments. */
describe('holds whose product is killed', function () {
  this.timeout(240_000);
  let product: KillableProduct;
  let token = '';
  let serviceId = '';
  let accountId = '';

  const send = (path: string, body?: unknown, method = 'POST'): Promise<Response> =>
    product.send(token, path, { body, method });
  const create = async (path: string, body: object): Promise<string> => {
    const response = await send(path, body);
    expect(response.status, await response.clone().text()).to.equal(201);
    return ((await response.json()) as { id: string }).id;
  };
  const event = (number: number) => ({
    message: {
      externalTransactionId: `held-${number}`,
      serviceId,
      billingAccountRef: 'acme',
      eventTimestamp: new Date().toISOString(),
      dimensions: { api_calls: '100', priority: '1', region: 'us' },
    },
  });

  before(async () => {
    product = await KillableProduct.start();
    token = await product.token('holds');
    accountId = await create(`${external}/accounts`, demoAccount);
    serviceId = await create(`${external}/services`, demoService);
    const wallet = { title: 'Held', accountId, currency: 'USD', balance: 40 };
    await create(`${external}/wallets`, wallet);
    await create('/v1/alerts', {
      name: 'Calls',
      accountId,
      measure: 'quantity',
      serviceId,
      attribute: 'api_calls',
      period: 'Lifetime',
      thresholds,
    });
  });
  after(() => product.close());

  /** Whether money was promised twice, or a balance is not what its entries say. */
  const faults = () =>
    product.query<{ fault: string }>(`
      select 'entries of ' || wallet.wallet_id as fault
      from wallet_balance as wallet where balance <> (
        select sum(amount) from wallet_entry as entry where entry.wallet_id = wallet.wallet_id)
      union all
      select 'held of ' || wallet_id from wallet_balance
      where held > balance or held <> (
        select coalesce(sum((part ->> 'amount')::numeric), 0) from wallet_hold
        cross join jsonb_array_elements(parts) as part where release_at is not null)
      union all
      select 'charge ' || charge_id from wallet_entry
      where kind = 'draw' group by charge_id
      having -sum(amount) > (select amount from rated_transaction where id = charge_id)
      union all
      select 'journal of ' || wallet_id from wallet_balance where balance <> (
        select -sum(amount) from journal_entry
        cross join unnest(accounts, amounts) as posting (account, amount)
        where posting.account = 'wallet')`);

  // spec/beyond.md R268, R271, R276
  it('promise nothing twice, and each commit that is sent again ends with its charge', async () => {
    const holds: Hold[] = [];
    let number = 0;
    /** A caller that holds, commits and goes on until the product is gone. */
    const call = async (): Promise<void> => {
      for (;;) {
        const own = (number += 1);
        const body = { accountId, currency: 'USD', amount: 0.5, expiresInSeconds: 3600 };
        const made = await send('/v1/holds', { ...body, key: `key-${own}` });
        if (made.status === 409) return;
        const { id } = (await made.json()) as { id: string };
        const hold = { id, event: event(own) };
        holds.push(hold);
        const done = await send(`/v1/holds/${id}/commit`, hold.event);
        expect(done.status, await done.text()).to.be.oneOf([200, 503, 504]);
      }
    };
    for (const afterMs of [150, 400, 800, 1_300]) {
      const killed = new Promise<void>((resolve) => {
        setTimeout(() => void product.kill().then(resolve), afterMs);
      });
      await Promise.allSettled(Array.from({ length: callers }, call));
      await killed;
      await product.launch();
      expect(await faults()).to.deep.equal([]);
    }
    // What the kill has interrupted is sent again, as its caller would.
    for (const { id, event: sent } of holds) {
      const done = await send(`/v1/holds/${id}/commit`, sent);
      expect(done.status, await done.clone().text()).to.equal(200);
      expect(await done.json()).to.include({ status: 'committed' });
    }
    await until(
      async () => {
        const response = await send('/v1/usage-events/summary', undefined, 'GET');
        return ((await response.json()) as { pending: number }).pending === 0;
      },
      60_000,
      'rating of all events',
    );
    expect(await faults()).to.deep.equal([]);
    const [counted] = await product.query<{ committed: string; events: string }>(`
      select (select count(*) from wallet_hold where status = 'committed') as committed,
        (select count(*) from usage_event where status = 'rated') as events`);
    expect(Number(counted?.committed)).to.equal(holds.length);
    expect(Number(counted?.events)).to.equal(holds.length);
    // Each threshold that was passed has triggered once, whatever was killed, repeated or at once.
    const triggered = await product.query<{ threshold: string }>(
      'select threshold from alert_trigger order by threshold',
    );
    expect(triggered.map(({ threshold }) => Number(threshold))).to.deep.equal(
      thresholds.filter((threshold) => threshold <= 100 * holds.length),
    );
    expect(triggered).not.to.deep.equal([]);
  });
});
