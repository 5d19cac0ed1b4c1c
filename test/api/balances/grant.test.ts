import { expect } from 'chai';
import { newId } from '../../../src/kernel/id.js';
import { Wallet } from '../../../src/models/payments/wallet.js';
import { external } from '../../support/servers/instance.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';
import { createWallet, readEntries, shortEntry } from '../../support/billing/wallets.js';

const future = '2099-01-01T00:00:00.000Z';

describe('grants of wallets', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  let accountId: string;
  let count = 0;
  before(async () => {
    const account = await tenant.post(`${external}/accounts`, { name: 'Acme' }).expect(201);
    accountId = account.body.id;
  });

  /** A new wallet in USD, by its id. */
  const addWallet = (changes: object = {}): Promise<string> =>
    createWallet(tenant, accountId, changes);
  const grantsOf = (walletId: string) => `/v1/wallets/${walletId}/grants`;
  const grant = (changes: object = {}) => {
    count += 1;
    return { externalId: `grant-${count}`, amount: 10, kind: 'purchased', ...changes };
  };
  const balanceOf = async (walletId: string): Promise<number> =>
    (await tenant.get(`${external}/wallets/${walletId}`).expect(200)).body.balance;
  const entriesOf = (walletId: string, query = '') => readEntries(tenant, walletId, query);

  // spec/beyond.md R260
  it('put money into a wallet, once under their externalId', async () => {
    const walletId = await addWallet();
    const body = grant({ amount: 25.5, kind: 'promotional', priority: 3, expiresAt: future });
    const made = await tenant.post(grantsOf(walletId), body).expect(201);
    const { id, effectiveFrom, createdAt, ...rest } = made.body;
    expect(rest).to.deep.equal({
      walletId,
      externalId: body.externalId,
      kind: 'promotional',
      amount: 25.5,
      remaining: 25.5,
      held: 0,
      currency: 'USD',
      priority: 3,
      status: 'active',
      expiresAt: future,
      revokedAt: null,
      serviceIds: null,
    });
    expect(effectiveFrom).to.equal(createdAt);
    const again = await tenant.post(grantsOf(walletId), body).expect(201);
    expect(again.body).to.deep.equal(made.body);
    const other = await tenant.post(grantsOf(walletId), { ...body, amount: 26 }).expect(409);
    expect(other.body.error.message).to.include(body.externalId);
    expect(await balanceOf(walletId)).to.equal(25.5);
    // The same id is free in another wallet.
    await tenant.post(grantsOf(await addWallet()), body).expect(201);
    const { data, pagination } = (await tenant.get(grantsOf(walletId)).expect(200)).body;
    expect(data).to.deep.equal([made.body]);
    expect(pagination).to.include({ total: 1 });
    const entries = await entriesOf(walletId);
    expect(entries).to.have.length(1);
    expect(entries[0]).to.include({
      number: 1,
      walletId,
      kind: 'grant',
      amount: 25.5,
      held: null,
      balanceAfter: 25.5,
      grantId: id,
      externalId: body.externalId,
      chargeId: null,
      usageEventId: null,
      holdId: null,
    });
  });

  // spec/beyond.md R260
  it('are the same where only what stands for nothing else is said or left out', async () => {
    const walletId = await addWallet();
    const least = grant();
    const until = grant({ expiresAt: future });
    const made = (await tenant.post(grantsOf(walletId), least).expect(201)).body;
    const madeUntil = (await tenant.post(grantsOf(walletId), until).expect(201)).body;
    const same: readonly (readonly [object, object])[] = [
      [{ ...least, priority: 0 }, made],
      [{ ...least, priority: null, effectiveFrom: null, expiresAt: null, serviceIds: null }, made],
      [{ ...least, currency: 'USD' }, made],
      [{ ...least, currency: null }, made],
      [{ ...until, expiresAt: '2099-01-01' }, madeUntil],
    ];
    for (const [body, expected] of same) {
      const again = await tenant.post(grantsOf(walletId), body).expect(201);
      expect(again.body, JSON.stringify(body)).to.deep.equal(expected);
    }
    const others = [
      { ...least, priority: 1 },
      { ...least, currency: 'EUR' },
      { ...least, expiresAt: future },
      { ...until, expiresAt: null },
      { ...until, expiresAt: '2099-01-02' },
    ];
    for (const body of others) await tenant.post(grantsOf(walletId), body).expect(409);
    // The other way round: said first, then left out.
    const said = { ...grant({ amount: 3 }), priority: 0, currency: 'USD' };
    const { priority, currency, ...left } = said;
    expect([priority, currency]).to.deep.equal([0, 'USD']);
    const first = await tenant.post(grantsOf(walletId), said).expect(201);
    expect((await tenant.post(grantsOf(walletId), left).expect(201)).body).to.deep.equal(
      first.body,
    );
    expect(await balanceOf(walletId)).to.equal(23);
  });

  // spec/beyond.md R152
  it('are the same whatever order their services are named in', async () => {
    const walletId = await addWallet();
    const services: string[] = [];
    for (const name of ['Storage', 'Compute', 'Mail']) {
      const body = { name, currency: 'USD' };
      services.push((await tenant.post(`${external}/services`, body).expect(201)).body.id);
    }
    const [storage = '', compute = '', mail = ''] = services;
    const body = grant({ serviceIds: [storage, compute] });
    const made = await tenant.post(grantsOf(walletId), body).expect(201);
    expect(made.body.serviceIds).to.deep.equal([storage, compute]);
    const same = [
      [compute, storage],
      [compute, storage, compute],
      [compute.toUpperCase(), storage],
    ];
    for (const serviceIds of same) {
      const again = await tenant.post(grantsOf(walletId), { ...body, serviceIds }).expect(201);
      expect(again.body).to.deep.equal(made.body);
    }
    const others = [[storage], [storage, mail], [storage, compute, mail], null];
    for (const serviceIds of others) {
      await tenant.post(grantsOf(walletId), { ...body, serviceIds }).expect(409);
    }
    await tenant.post(grantsOf(walletId), { ...body, priority: 1 }).expect(409);
    expect(await balanceOf(walletId)).to.equal(10);
  });

  it('are one when they come at the same time', async () => {
    const walletId = await addWallet();
    const body = grant();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => tenant.post(grantsOf(walletId), body)),
    );
    expect(new Set(answers.map(({ status, body: { id } }) => `${status} ${id}`)).size).to.equal(1);
    expect(await balanceOf(walletId)).to.equal(10);
  });

  // spec/beyond.md R261
  it('begin with the balance of a wallet; later it is not written', async () => {
    const walletId = await addWallet({ balance: 12.25 });
    const path = `${external}/wallets/${walletId}`;
    const { data } = (await tenant.get(grantsOf(walletId))).body;
    expect(data).to.have.length(1);
    expect(data[0]).to.include({ externalId: 'opening', kind: 'purchased', amount: 12.25 });
    const refused = await tenant.put(path, { balance: 20 }).expect(400);
    expect(refused.body.message).to.include("'balance'").and.to.include('grants');
    for (const [name, value] of [
      ['balance', 0],
      ['balance', null],
      ['availableBalance', 1],
      ['reservedBalance', 1],
    ] as const) {
      await tenant.put(path, { [name]: value }).expect(400);
    }
    const read = (await tenant.get(path).expect(200)).body;
    expect(read).to.include({ balance: 12.25, availableBalance: 12.25, reservedBalance: 0 });
    expect((await tenant.put(path, { ...read, unit: 'x' }).expect(200)).body.balance).to.equal(
      12.25,
    );
    await tenant.put(path, { currency: 'EUR' }).expect(409);
    await tenant.put(path, { accountId: newId() }).expect(409);
    await tenant.post(`${external}/wallets`, { title: 'Owes', accountId, balance: -1 }).expect(400);
  });

  // spec/beyond.md R385
  it('are in the currency of the account where the wallet has neither currency nor unit', async () => {
    const account = { name: 'Euro', defaultCurrency: 'EUR' };
    const owner = (await tenant.post(`${external}/accounts`, account).expect(201)).body.id;
    const add = (changes: object) =>
      createWallet(tenant, owner as string, { currency: undefined, ...changes });
    const read = async (walletId: string) =>
      (await tenant.get(`${external}/wallets/${walletId}`).expect(200)).body;
    const [opened, empty, counted] = [
      await add({ balance: 7 }),
      await add({}),
      await add({ balance: 3, unit: 'credits' }),
    ];
    expect(await read(opened)).to.include({ currency: 'EUR', balance: 7 });
    expect(await read(empty)).to.include({ currency: null, balance: 0 });
    await tenant.post(grantsOf(empty), grant({ currency: 'USD' })).expect(400);
    expect(await read(empty)).to.include({ currency: null });
    const { db, tenantId } = tenant.scope;
    const changedAt = async () =>
      (await Wallet.query(db.read).forTenant(tenantId).findById(empty))?.updatedAt;
    const before = await changedAt();
    const { body } = await tenant.post(grantsOf(empty), grant({ amount: 2 })).expect(201);
    expect(body).to.include({ currency: 'EUR', amount: 2 });
    expect(await changedAt()).to.be.greaterThan(before ?? new Date(NaN));
    expect(await read(counted)).to.include({ currency: null, unit: 'credits', balance: 3 });
    const balance = await tenant.get(`/v1/accounts/${owner as string}/balance`).expect(200);
    expect(balance.body).to.include({ currency: 'EUR', balance: 9, available: 9 });
  });

  // spec/beyond.md R262
  it('of a later time are entered when it comes, and expire', async () => {
    const walletId = await addWallet();
    const pending = grant({ effectiveFrom: future });
    const { body } = await tenant.post(grantsOf(walletId), pending).expect(201);
    expect(body).to.include({ status: 'pending', effectiveFrom: future, remaining: 10 });
    expect(await entriesOf(walletId)).to.deep.equal([]);
    expect(await balanceOf(walletId)).to.equal(0);
    const [begin, end] = [new Date(Date.now() + 700), new Date(Date.now() + 1_400)];
    await tenant
      .post(
        grantsOf(walletId),
        grant({ amount: 4, effectiveFrom: begin.toISOString(), expiresAt: end.toISOString() }),
      )
      .expect(201);
    await until(begin);
    expect(await balanceOf(walletId)).to.equal(4);
    await until(end);
    expect(await balanceOf(walletId)).to.equal(0);
    const entries = await entriesOf(walletId);
    expect(entries.map(shortEntry)).to.deep.equal(['grant 4 = 4', 'expire -4 = 0']);
    const { data } = (await tenant.get(grantsOf(walletId))).body;
    expect(data.map((one: { status: string }) => one.status)).to.deep.equal(['pending', 'expired']);
  });

  // spec/beyond.md R267
  it('are revoked once', async () => {
    const walletId = await addWallet({ balance: 5 });
    const { body: first } = await tenant.post(grantsOf(walletId), grant()).expect(201);
    const path = `${grantsOf(walletId)}/${first.id as string}/revoke`;
    const revoked = await tenant.post(path).expect(200);
    expect(revoked.body).to.include({ status: 'revoked', remaining: 0, amount: 10 });
    expect((await tenant.post(path).expect(200)).body).to.deep.equal(revoked.body);
    expect((await entriesOf(walletId)).map(shortEntry)).to.deep.equal([
      'grant 5 = 5',
      'grant 10 = 15',
      'revoke -10 = 5',
    ]);
    expect(await entriesOf(walletId, `?kind=revoke&grantId=${first.id as string}`)).to.have.length(
      1,
    );
    expect(await entriesOf(walletId, '?limit=1&offset=1')).to.have.length(1);
    const other = await addWallet();
    await tenant.post(`${grantsOf(other)}/${first.id as string}/revoke`).expect(404);
    await tenant.post(`${grantsOf(walletId)}/${newId()}/revoke`).expect(404);
    const pending = await tenant.post(grantsOf(walletId), grant({ effectiveFrom: future }));
    const never = await tenant.post(`${grantsOf(walletId)}/${pending.body.id as string}/revoke`);
    expect(never.body).to.include({ status: 'revoked', remaining: 0 });
    expect(await balanceOf(walletId)).to.equal(5);
  });

  for (const [what, changes, message] of [
    ['no externalId', { externalId: undefined }, /'externalId' is required/],
    ['an amount of 0', { amount: 0 }, /'amount'/],
    ['an amount below 0', { amount: -5 }, /'amount'/],
    ['an unknown kind', { kind: 'gift' }, /'kind'.*purchased/],
    ['another currency than the wallet', { currency: 'EUR' }, /EUR.*USD/],
    ['an expiry in the past', { expiresAt: '2020-01-01' }, /'expiresAt'.*past/],
    [
      'an expiry before it takes effect',
      { effectiveFrom: '2099-01-02', expiresAt: '2099-01-01' },
      /'expiresAt'.*'effectiveFrom'/,
    ],
    ['an unknown service', { serviceIds: [newId()] }, /serviceIds\[0\]/],
    ['an unknown property', { amountt: 5 }, /'amountt'/],
  ] as const) {
    // spec/beyond.md R263
    it(`refuse ${what}`, async () => {
      const walletId = await addWallet();
      const refused = await tenant.post(grantsOf(walletId), grant(changes)).expect(400);
      expect(refused.body.error.message).to.match(message);
    });
  }

  it('are of a wallet that is there', async () => {
    await tenant.post(grantsOf(newId()), grant()).expect(404);
    await tenant.get(grantsOf(newId())).expect(404);
    await tenant.get(`/v1/wallets/${newId()}/entries`).expect(404);
    const walletId = await addWallet({ balance: 1 });
    await tenant.delete(`${external}/wallets/${walletId}`).expect(204);
    await tenant.post(grantsOf(walletId), grant()).expect(404);
    await tenant.get(`/v1/wallets/${walletId}/entries`).expect(404);
  });

  it('are in the audit', async () => {
    const walletId = await addWallet();
    const { body } = await tenant.post(grantsOf(walletId), grant()).expect(201);
    await tenant.post(`${grantsOf(walletId)}/${body.id as string}/revoke`).expect(200);
    const { data } = (await tenant.get(`/v1/audit?id=${body.id as string}`).expect(200)).body;
    expect(data.map((one: { action: string }) => one.action).sort()).to.deep.equal([
      'create',
      'update',
    ]);
  });
});

const until = (at: Date): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, at.getTime() - Date.now()) + 20);
  });
