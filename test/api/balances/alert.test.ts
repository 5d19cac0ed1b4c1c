import { expect } from 'chai';
import { newId } from '../../../src/kernel/id.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../../support/billing/usage.js';
import { external } from '../../support/servers/instance.js';
import { openReceiver } from '../../support/servers/receiver.js';
import { asOwner } from '../../support/servers/rows.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';
import { createWallet } from '../../support/billing/wallets.js';

describe('alerts', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance, { forEachTest: true });
  let serviceId: string;
  let accountId: string;
  let sent = 0;
  let events: () => Record<string, unknown>[];
  beforeEach(async () => {
    sent = 0;
    serviceId = await createService(tenant, 'Calls');
    accountId = await createAccount(tenant, 'acme');
    const receiver = await openReceiver();
    await tenant
      .post('/v1/webhooks', {
        url: receiver.url,
        events: ['alert.triggered'],
        secret: 's'.repeat(24),
      })
      .expect(201);
    events = () => receiver.received.map(({ payload }) => payload.data as Record<string, unknown>);
  });

  const add = async (changes: object) => {
    const body = { name: `Alert ${newId()}`, measure: 'spend', period: 'Monthly', ...changes };
    return (await tenant.post('/v1/alerts', body).expect(201)).body;
  };
  const today = new Date().toISOString();
  const use = async (calls: number, more: object = {}) => {
    await send(
      tenant,
      usage('acme', serviceId, {
        dimensions: { api_calls: String(calls) },
        eventTimestamp: today,
        ...more,
      }),
    );
    sent += 1;
    await waitUntilRated(tenant, sent);
  };
  const waitFor = async (count: number): Promise<Record<string, unknown>[]> => {
    const until = Date.now() + 10_000;
    while (events().length < count && Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(events()).to.have.length(count);
    return events();
  };

  // spec/beyond.md R275
  it('are made, listed, read, changed and deleted', async () => {
    const body = {
      name: 'Costs',
      accountId,
      measure: 'spend',
      period: 'monthly',
      thresholds: [5, 1],
    };
    const made = await tenant.post('/v1/alerts', body).expect(201);
    expect(made.body).to.deep.include({
      name: 'Costs',
      accountId,
      contractId: null,
      walletId: null,
      serviceId: null,
      attribute: null,
      measure: 'spend',
      period: 'Monthly',
      thresholds: [1, 5],
    });
    const path = `/v1/alerts/${made.body.id as string}`;
    expect((await tenant.get(path).expect(200)).body).to.deep.equal(made.body);
    expect((await tenant.get('/v1/alerts').expect(200)).body.data).to.deep.equal([made.body]);
    await tenant.post('/v1/alerts', body).expect(409);
    const other = await tenant.post('/v1/alerts', { ...body, name: 'Other' }).expect(201);
    const taken = await tenant.put(`/v1/alerts/${other.body.id as string}`, { name: 'Costs' });
    expect([taken.status, taken.body.error.message, taken.body.error.details]).to.deep.equal([
      409,
      'An alert with this name exists already.',
      { field: 'name' },
    ]);
    const changed = await tenant.put(path, { thresholds: [7], period: 'Lifetime' }).expect(200);
    expect(changed.body).to.deep.include({ name: 'Costs', thresholds: [7], period: 'Lifetime' });
    await tenant.delete(path).expect(204);
    await tenant.get(path).expect(404);
    await tenant.put(path, { thresholds: [7] }).expect(404);
    await tenant.delete(path).expect(404);
    await tenant.post('/v1/alerts', body).expect(201);
  });

  // spec/beyond.md R426
  it('are listed by account: what its charges and wallets can trigger', async () => {
    const other = await createAccount(tenant, 'other');
    const contractOf = async (name: string, masterAccountId: string, more: object = {}) => {
      const body = { masterAccountId, name, services: [{ serviceId, ...more }] };
      return (await tenant.post(`${external}/contracts`, body).expect(201)).body.id as string;
    };
    const walletOf = async (title: string, owner: string) => {
      const body = { title, accountId: owner, currency: 'USD' };
      return (await tenant.post(`${external}/wallets`, body).expect(201)).body.id as string;
    };
    const accountMap = { [accountId]: 1, [other]: 1 };
    const balance = { measure: 'balance', thresholds: [1] };
    const scopes = {
      'of acme': { accountId },
      'of acme, a service': { accountId, serviceId },
      'of each': {},
      'of each, a service': { serviceId },
      'of the contract of acme': { contractId: await contractOf('A', accountId) },
      'of the contract of other': { contractId: await contractOf('B', other) },
      'of a contract that both share': { contractId: await contractOf('C', other, { accountMap }) },
      'of other': { accountId: other },
      'of the wallet of acme': { ...balance, walletId: await walletOf('A', accountId) },
      'of the wallet of other': { ...balance, walletId: await walletOf('B', other) },
    };
    for (const [name, scope] of Object.entries(scopes))
      await add({ name, thresholds: [1], ...scope });
    const listed = async (query: string) => {
      const { body } = await tenant.get(`/v1/alerts?${query}`).expect(200);
      return {
        total: body.pagination.total as number,
        names: (body.data as { name: string }[]).map(({ name }) => name),
      };
    };
    const names = [
      'of a contract that both share',
      'of acme',
      'of acme, a service',
      'of each',
      'of each, a service',
      'of the contract of acme',
      'of the wallet of acme',
    ];
    expect(await listed(`accountId=${accountId}`)).to.deep.equal({ total: 7, names });
    const second = await listed('accountId=acme&limit=2&offset=5');
    expect(second).to.deep.equal({ total: 7, names: names.slice(5) });
    expect((await listed(`accountId=${other}`)).names).to.deep.equal([
      'of a contract that both share',
      'of each',
      'of each, a service',
      'of other',
      'of the contract of other',
      'of the wallet of other',
    ]);
    expect((await listed(`accountId=${newId()}`)).names).to.deep.equal([
      'of each',
      'of each, a service',
    ]);
  });

  // spec/beyond.md R432
  it('say what they have counted of an account in the running period', async () => {
    const other = await createAccount(tenant, 'other');
    const volume = { measure: 'quantity', serviceId, attribute: 'api_calls' };
    await add({ name: 'spent', thresholds: [1, 9] });
    await add({ name: 'used', thresholds: [1000], ...volume });
    await add({ name: 'used by acme', thresholds: [1000], accountId, ...volume });
    const counted = async (of: string) => {
      const { body } = await tenant.get(`/v1/alerts?accountId=${of}`).expect(200);
      const alerts = body.data as { name: string; counted?: object[] | null }[];
      return alerts.map((alert) => [alert.name, alert.counted]);
    };
    expect(await counted(other)).to.deep.equal([
      ['spent', null],
      ['used', null],
    ]);
    await use(300);
    await use(100);
    const usd = [{ currency: 'USD', value: 4 }];
    const calls = [{ currency: null, value: 400 }];
    // 400 at 0.01.
    expect(await counted(accountId)).to.deep.equal([
      ['spent', usd],
      ['used', calls],
      ['used by acme', calls],
    ]);
    // Long before this period, in which nothing of it has moved: what was dated ahead is not counted yet.
    await asOwner(instance.databaseUrl, (client) =>
      client.query(`update alert set armed_at = '2020-01-01' where tenant_id = $1`, [tenant.id]),
    );
    expect(await counted(other)).to.deep.equal([
      ['spent', null],
      ['used', null],
    ]);
    const { body: all } = await tenant.get('/v1/alerts').expect(200);
    expect(all.data[0]).to.not.have.property('counted');
  });

  for (const [what, changes, message] of [
    ['no threshold', { thresholds: [] }, /thresholds/],
    ['an unknown period', { period: 'Hourly' }, /Hourly.*Lifetime/],
    ['an unknown measure', { measure: 'taste' }, /measure/],
    ['a balance without a wallet', { measure: 'balance' }, /walletId/],
    ['a volume without an attribute', { measure: 'quantity' }, /serviceId/],
    ['an account that is none', { accountId: newId() }, /accountId/],
    ['spending of a wallet', { walletId: newId() }, /walletId/],
  ] as const) {
    it(`refuse ${what}`, async () => {
      const body = {
        name: 'Wrong',
        measure: 'spend',
        period: 'Monthly',
        thresholds: [1],
        ...changes,
      };
      const refused = await tenant.post('/v1/alerts', body).expect(400);
      expect(refused.body.error.message).to.match(message);
    });
  }

  // spec/beyond.md R309
  it('refuse a contract that is of another account, unless the account shares it', async () => {
    const other = await createAccount(tenant, 'other');
    const contract = async (more: object) => {
      const services = [{ serviceId, ...more }];
      const body = { masterAccountId: other, name: 'C', services };
      return (await tenant.post(`${external}/contracts`, body).expect(201)).body.id as string;
    };
    const contractId = await contract({});
    const body = { name: 'A', accountId, contractId, measure: 'spend', period: 'Monthly' };
    const given = { ...body, thresholds: [1] };
    const refused = await tenant.post('/v1/alerts', given).expect(400);
    expect(refused.body.error.message).to.match(/'contractId'.*another account/);
    const own = await tenant.post('/v1/alerts', { ...given, accountId: other }).expect(201);
    const path = `/v1/alerts/${own.body.id as string}`;
    await tenant.put(path, { accountId }).expect(400);
    await tenant.put(path, { accountId: null }).expect(200);
    const shared = await contract({ accountMap: { [other]: 1, [accountId]: 1 } });
    await tenant.post('/v1/alerts', { ...given, name: 'B', contractId: shared }).expect(201);
  });

  // spec/beyond.md R276
  it('trigger once for each threshold, at or above it, whatever comes at once', async () => {
    const { id } = await add({ name: 'Spend', accountId, thresholds: [1, 2, 100] });
    await use(99);
    expect(events()).to.have.length(0);
    await use(1);
    expect(await waitFor(1)).to.deep.equal([
      {
        alertId: id,
        name: 'Spend',
        measure: 'spend',
        threshold: 1,
        value: 1,
        period: 'Monthly',
        accountId,
      },
    ]);
    await Promise.all(Array.from({ length: 3 }, () => use(40).catch(() => undefined)));
    await waitFor(2);
    expect(events().map(({ threshold }) => threshold)).to.deep.equal([1, 2]);
  });

  it('count each account by itself without a scope, and volumes by attribute', async () => {
    await createAccount(tenant, 'other');
    await add({ name: 'Each', thresholds: [3] });
    await add({
      name: 'Calls',
      measure: 'quantity',
      serviceId,
      attribute: 'api_calls',
      thresholds: [250],
    });
    await use(200);
    await use(200, { billingAccountRef: 'other' });
    expect(events()).to.have.length(0);
    await use(100);
    const data = await waitFor(2);
    const names = data.map(({ name, value, accountId: of }) => [name, value, of]);
    expect(names.sort()).to.deep.equal([
      ['Calls', 300, accountId],
      ['Each', 3, accountId],
    ]);
  });

  // spec/beyond.md R278
  it('are silent for what was past when they were made', async () => {
    await use(300);
    await add({ name: 'Late', accountId, thresholds: [2, 4] });
    await use(50);
    await use(50);
    const data = await waitFor(1);
    expect(data[0]).to.include({ threshold: 4, value: 4 });
  });

  // spec/resources.md R17
  it('count on when they are put as they were read, with another name', async () => {
    const { id } = await add({ accountId, thresholds: [4, 9] });
    await use(500);
    const list = () => tenant.get(`/v1/alerts?accountId=${accountId}`).expect(200);
    const [read] = (await list()).body.data as [object];
    await tenant.put(`/v1/alerts/${id as string}`, { ...read, name: 'Other' }).expect(200);
    const [after] = (await list()).body.data as [object];
    expect(after).to.deep.include({ name: 'Other', counted: [{ currency: 'USD', value: 5 }] });
  });

  // spec/beyond.md R277
  it('trigger when a balance falls below, and again when it has risen', async () => {
    const walletId = await createWallet(tenant, accountId, { balance: 10 });
    const { id } = await add({ name: 'Low', measure: 'balance', walletId, thresholds: [5] });
    await use(500);
    expect(events()).to.have.length(0);
    await use(1);
    expect(await waitFor(1)).to.deep.equal([
      {
        alertId: id,
        name: 'Low',
        measure: 'balance',
        threshold: 5,
        value: 4.99,
        period: 'Monthly',
        accountId,
        walletId,
      },
    ]);
    await use(1);
    const grant = { externalId: 'more', amount: 1, kind: 'purchased' };
    await tenant.post(`/v1/wallets/${walletId}/grants`, grant).expect(201);
    await use(100);
    const data = await waitFor(2);
    expect(data[1]).to.include({ threshold: 5, value: 4.98 });
    // spec/beyond.md R247
    const { body } = await tenant.get(`/v1/accounts/${accountId}/timeline?kind=alert`).expect(200);
    expect(
      body.data.map(({ event, name, amount, currency }: Record<string, unknown>) => [
        event,
        name,
        amount,
        currency,
      ]),
    ).to.deep.equal([
      ['alert.triggered', 'Low', 4.98, 'USD'],
      ['alert.triggered', 'Low', 4.99, 'USD'],
    ]);
    const all = (await tenant.get(`/v1/accounts/${accountId}/timeline`).expect(200)).body;
    expect(all.data.map(({ kind }: { kind: string }) => kind)).to.include('alert');
  });

  // spec/beyond.md R279
  it('top up a wallet by a pending payment, which becomes a grant when it is completed', async () => {
    const walletId = await createWallet(tenant, accountId, {
      balance: 10,
      enableDisableTopUp: true,
      thresholdTopUpAmount: 5,
      autoTopUpAmount: 20,
    });
    const payments = async () =>
      (await tenant.get(`${external}/payments`).expect(200)).body.data.content;
    await use(500);
    expect(await payments()).to.have.length(0);
    await use(100);
    await use(100);
    const [row, ...others] = await payments();
    expect(others).to.have.length(0);
    const path = `${external}/payments/${row.Id as string}`;
    const pending = (await tenant.get(path).expect(200)).body;
    expect(pending).to.include({
      amount: 20,
      paymentStatus: 'Pending',
      accountId,
      currency: 'USD',
    });
    const completed = await tenant.put(path, { paymentStatus: 'Completed' }).expect(200);
    expect(completed.body).to.include({ balance: 0, balanceStatus: 'Applied' });
    const { data } = (await tenant.get(`/v1/wallets/${walletId}/grants`)).body;
    expect(data).to.have.length(2);
    expect(data[1]).to.include({ kind: 'purchased', amount: 20, remaining: 20 });
    await tenant.put(path, { comments: 'Again' }).expect(200);
    // 3 + 20 - 19 = 4: below again.
    await use(1_900);
    const again = await payments();
    expect(again).to.have.length(2);
    // A reference that a grant of the wallet has already does not keep the money out of it.
    const second = again.find(({ Id }: { Id: string }) => Id !== row.Id).Id as string;
    await tenant
      .put(`${external}/payments/${second}`, {
        paymentReference: 'opening',
        paymentStatus: 'Completed',
      })
      .expect(200);
    const grants = (await tenant.get(`/v1/wallets/${walletId}/grants`)).body.data;
    expect(grants).to.have.length(3);
    expect(grants[2]).to.include({ amount: 20, externalId: `top-up-${second}` });
  });
});
