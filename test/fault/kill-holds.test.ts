import { expect } from 'chai';
import { demoAccount, demoService } from '../../src/cli/demo/demo-catalog.js';
import { KillableProduct } from '../start/killable.js';
import { until } from '../start/workbench.js';

const external = '/api/v1/external';
const callers = 50;
/** Each event has 100 calls, of which the first 1,000 are free: 0.20 each from then on. */
const thresholds = {
  quantity: [100, 500, 1_000, 2_000, 3_000, 5_000, 8_000, 13_000, 21_000, 34_000],
  spend: [0.2, 1, 2, 5, 10, 20, 30, 45, 60],
  balance: [40, 39.9, 39, 35, 30, 20, 10, 0.05],
};
/** Usage of others that the account pays for, in batches of so many events: 54.00, more than it has. */
const units = ['unit-0', 'unit-1', 'unit-2'];
const batches = 12;
const eventsPerBatch = 25;

/** A hold, and the event that commits it: what is sent again is the same to its last character. */
interface Hold {
  readonly id: string;
  readonly event: object;
}

/** Money that is held and drawn by 50 callers at once, under kill -9 at many moments. */
describe('holds whose product is killed', function () {
  this.timeout(480_000);
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
    const walletId = await create(`${external}/wallets`, wallet);
    // What nobody hears is kept all the same.
    const webhook = { url: 'http://127.0.0.1:9/', events: ['alert.triggered'] };
    await create('/v1/webhooks', { ...webhook, secret: 'not known to anybody' });
    const scopes = {
      quantity: { accountId, serviceId, attribute: 'api_calls' },
      spend: { accountId },
      balance: { walletId },
    };
    for (const measure of ['quantity', 'spend', 'balance'] as const) {
      const alert = { name: measure, measure, period: 'Lifetime', thresholds: thresholds[measure] };
      await create('/v1/alerts', { ...alert, ...scopes[measure] });
    }
  });
  after(() => product.close());

  /**
   * Whether money was promised twice, a balance is not what its entries say, or a threshold that is
   * passed has not exactly one trigger and one event: one statement, so of one instant.
   */
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
        where posting.account = 'wallet')
      union all
      select format('threshold %s of %s, passed %s: triggers %s, events %s', threshold, measure,
        is_passed, triggers, events)
      from (
        select measure, threshold,
          case measure
            when 'spend' then (select coalesce(sum(amount), 0) from rated_transaction) >= threshold
            when 'quantity'
            then (select coalesce(sum(quantity), 0) from rated_transaction) >= threshold
            else (select balance from wallet_balance as own where own.wallet_id = alert.wallet_id)
              < threshold
          end as is_passed,
          (select count(*) from alert_trigger as one
            where one.alert_id = alert.id and one.threshold = passed.threshold) as triggers,
          (select count(*) from webhook_event as one
            where one.record_id = alert.id and one.event = 'alert.triggered'
              and (one.body::jsonb #>> '{data,threshold}')::numeric = passed.threshold) as events
        from alert cross join unnest(thresholds) as passed (threshold)
      ) as counted
      where triggers <> is_passed::integer or events <> is_passed::integer`);

  const untilRated = () =>
    until(
      async () => {
        const response = await send('/v1/usage-events/summary', undefined, 'GET');
        return ((await response.json()) as { pending: number }).pending === 0;
      },
      60_000,
      'rating of all events',
    );
  const triggered = async (): Promise<string[]> => {
    const rows = await product.query<{ measure: string; threshold: string }>(
      'select measure, threshold from alert_trigger order by measure, threshold',
    );
    return rows.map(({ measure, threshold }) => `${measure} ${Number(threshold)}`);
  };

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
    await untilRated();
    expect(await faults()).to.deep.equal([]);
    const [counted] = await product.query<{ committed: string; events: string }>(`
      select (select count(*) from wallet_hold where status = 'committed') as committed,
        (select count(*) from usage_event where status = 'rated') as events`);
    expect(Number(counted?.committed)).to.equal(holds.length);
    expect(Number(counted?.events)).to.equal(holds.length);
    expect(await triggered()).not.to.deep.equal([]);
  });

  // spec/beyond.md R276, R277
  it('trigger each threshold once, by concurrent batches that are sent again', async () => {
    // Holds whose answer a kill has swallowed keep their money from others.
    const open = await product.query<{ id: string }>(
      `select id from wallet_hold where release_at is not null`,
    );
    for (const { id } of open) {
      expect((await send(`/v1/holds/${id}`, undefined, 'DELETE')).status).to.equal(204);
    }
    // Usage of three accounts is in three partitions, which are rated at the same time.
    for (const externalId of units) {
      const unit = { ...demoAccount, name: externalId, number: externalId, externalId };
      const masterAccountId = await create(`${external}/accounts`, unit);
      const services = [{ serviceId, accountMap: { [accountId]: 1 } }];
      await create(`${external}/contracts`, { masterAccountId, name: externalId, services });
    }
    const sendBatch = async (batch: number): Promise<number> => {
      const body = Array.from({ length: eventsPerBatch }, (_each, index) => {
        const { message } = event(1_000_000 + batch * eventsPerBatch + index);
        return { message: { ...message, billingAccountRef: units[batch % units.length] } };
      });
      const done = await send('/v1/ingest/usage/batch', body);
      expect(done.status, await done.text()).to.be.oneOf([200, 202, 503]);
      return done.status;
    };
    const all = Array.from({ length: batches }, (_each, batch) => batch);
    const sendOn = async (batch: number): Promise<void> => {
      for (;;) await sendBatch(batch);
    };
    for (const afterMs of [300, 900]) {
      const killed = new Promise<void>((resolve) => {
        setTimeout(() => void product.kill().then(resolve), afterMs);
      });
      // Each is sent again and again until the product is gone.
      await Promise.allSettled(all.map(sendOn));
      await killed;
      await product.launch();
      expect(await faults()).to.deep.equal([]);
    }
    // A product that is slow has not taken all of them before it was killed.
    const isTaken = async (batch: number) => (await sendBatch(batch)) !== 503;
    await Promise.all(all.map((batch) => until(() => isTaken(batch), 60_000, 'a batch is taken')));
    await untilRated();
    expect(await faults()).to.deep.equal([]);
    // 90 events of each unit are 0.20, 10 are free; the holds have charged more.
    expect(await triggered()).to.include.members([
      ...thresholds.balance.map((threshold) => `balance ${threshold}`),
      'spend 45',
      'quantity 21000',
    ]);
  });
});
