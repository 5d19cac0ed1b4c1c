import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { createHold } from '../../../src/commands/balances/holds/create-hold.js';
import { newId } from '../../../src/kernel/id.js';
import { Decimal } from '../../../src/kernel/numbers/money.js';
import { createAccount, createService, usage } from '../../support/billing/usage.js';
import { external } from '../../support/servers/instance.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';
import { addGrant, createWallet, readEntries, shortEntry } from '../../support/billing/wallets.js';

describe('holds', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  let serviceId: string;
  let count = 0;
  before(async () => {
    serviceId = await createService(tenant, 'Calls');
  });

  /** An account with a wallet in USD that has so much. */
  const addAccount = async (balance: number, more: object = {}) => {
    count += 1;
    const ref = `account-${count}`;
    const accountId = await createAccount(tenant, ref);
    return {
      accountId,
      ref,
      walletId: await createWallet(tenant, accountId, { balance, ...more }),
    };
  };
  const hold = (accountId: string, amount: number, more: object = {}) => {
    count += 1;
    const body = { accountId, currency: 'USD', amount, expiresInSeconds: 600, key: `key-${count}` };
    return { ...body, ...more };
  };
  const balanceOf = async (accountId: string, query = '') => {
    const { body } = await tenant.get(`/v1/accounts/${accountId}/balance${query}`).expect(200);
    const { balance, held, available, spent } = body;
    return { balance, held, available, spent: spent.amount };
  };
  const entriesOf = async (walletId: string): Promise<string[]> =>
    (await readEntries(tenant, walletId)).map(shortEntry);
  /** A usage event of today: so many calls at 0.01. */
  const event = (ref: string, calls: number) =>
    usage(ref, serviceId, {
      dimensions: { api_calls: String(calls) },
      eventTimestamp: new Date().toISOString(),
      morgId: 'org',
    });

  // spec/beyond.md R492
  it('are listed while they last, the next to expire first', async () => {
    const [{ accountId }, other] = [await addAccount(20), await addAccount(20)];
    const make = async (body: object) =>
      (await tenant.post('/v1/holds', body).expect(201)).body.id as string;
    const last = await make(hold(accountId, 3, { expiresInSeconds: 900 }));
    const first = await make(hold(accountId, 2.5, { key: 'the first' }));
    await tenant.delete(`/v1/holds/${await make(hold(accountId, 1))}`).expect(204);
    await make(hold(other.accountId, 1));
    const { body } = await tenant.get(`/v1/accounts/${accountId}/holds`).expect(200);
    expect(body.data.map(({ id }: { id: string }) => id)).to.deep.equal([first, last]);
    expect(body.data[0]).to.include({ accountId, amount: 2.5, key: 'the first', status: 'open' });
    const page = await tenant.get(`/v1/accounts/${accountId}/holds?limit=1&offset=1`).expect(200);
    expect(page.body).to.deep.include({ data: [body.data[1]] });
    await tenant.get(`/v1/accounts/${accountId}/holds?limit=0`).expect(400);
    await tenant.get(`/v1/accounts/${newId()}/holds`).expect(404);
  });

  // spec/beyond.md R268
  it('promise money, once under their key', async () => {
    const { accountId, walletId } = await addAccount(20);
    const body = hold(accountId, 8);
    const made = await tenant.post('/v1/holds', body).expect(201);
    expect(made.body).to.include({
      accountId,
      currency: 'USD',
      amount: 8,
      available: 12,
      key: body.key,
      status: 'open',
    });
    const again = await tenant.post('/v1/holds', body).expect(201);
    expect(again.body).to.deep.equal(made.body);
    await tenant.post('/v1/holds', { ...body, amount: 9 }).expect(409);
    const other = await addAccount(20);
    await tenant.post('/v1/holds', { ...body, accountId: other.accountId }).expect(409);
    expect(await balanceOf(accountId)).to.deep.equal({
      balance: 20,
      held: 8,
      available: 12,
      spent: 0,
    });
    expect(await entriesOf(walletId)).to.deep.equal(['grant 20 = 20', 'hold 8 = 20']);
    const wallet = await tenant.get(`${external}/wallets/${walletId}`).expect(200);
    expect(wallet.body).to.include({ balance: 20, availableBalance: 12, reservedBalance: 8 });
    await tenant.delete(`${external}/wallets/${walletId}`).expect(409);
    await tenant.delete(`/v1/holds/${made.body.id as string}`).expect(204);
    await tenant.delete(`/v1/holds/${made.body.id as string}`).expect(204);
    expect(await balanceOf(accountId)).to.include({ held: 0, available: 20 });
    expect((await entriesOf(walletId)).at(-1)).to.equal('release 8 = 20');
    await tenant.delete(`/v1/holds/${newId()}`).expect(404);
  });

  // spec/beyond.md R269
  it('of more than is available are refused, and say what is', async () => {
    const { accountId, walletId } = await addAccount(10);
    await addGrant(tenant, walletId, 'scoped', 50, { serviceIds: [serviceId] });
    await tenant.post('/v1/holds', hold(accountId, 4.25)).expect(201);
    const { body } = await tenant.post('/v1/holds', hold(accountId, 5.76)).expect(409);
    expect(body.error.code).to.equal('INSUFFICIENT_BALANCE');
    expect(body.error.details.available).to.equal(5.75);
    await tenant.post('/v1/holds', hold(accountId, 5.75)).expect(201);
    expect(await balanceOf(accountId)).to.include({ balance: 60, held: 10, available: 0 });
    const poor = await createAccount(tenant, 'poor');
    const nothing = await tenant.post('/v1/holds', hold(poor, 1)).expect(409);
    expect(nothing.body.error.details.available).to.equal(0);
    await tenant.post('/v1/holds', hold(newId(), 1)).expect(400);
    await tenant.post('/v1/holds', hold(accountId, 0)).expect(400);
    await tenant.post('/v1/holds', hold(accountId, 1, { expiresInSeconds: 0 })).expect(400);
  });

  it('never promise the same money twice, when 50 ask at once', async () => {
    const { accountId, walletId } = await addAccount(10);
    await createWallet(tenant, accountId, { balance: 5 });
    // 15 / 0.7 = 21.4
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => tenant.post('/v1/holds', hold(accountId, 0.7))),
    );
    const made = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status === 409);
    expect([made.length, refused.length]).to.deep.equal([21, 29]);
    // 21 x 0.7 = 14.7
    expect(await balanceOf(accountId)).to.include({ balance: 15, held: 14.7, available: 0.3 });
    await Promise.all(made.map(({ body }) => tenant.delete(`/v1/holds/${body.id as string}`)));
    expect(await balanceOf(accountId)).to.include({ balance: 15, held: 0, available: 15 });
    const same = hold(accountId, 1);
    const ids = await Promise.all(Array.from({ length: 10 }, () => tenant.post('/v1/holds', same)));
    expect(new Set(ids.map(({ body }) => body.id)).size).to.equal(1);
    expect(await balanceOf(accountId)).to.include({ held: 1 });
    expect((await entriesOf(walletId)).every((one) => !one.includes('-'))).to.equal(true);
  });

  // spec/beyond.md R151
  it('that are made at the same moment are each answered and audited for themselves', async () => {
    const { accountId } = await addAccount(10);
    const { accountId: otherId } = await addAccount(2);
    const poor = await createAccount(tenant, `none-${(count += 1)}`);
    const same = hold(accountId, 1);
    // 10 - 1 - 1 - 4 = 4, of which 5 cannot be held, whoever comes first, and 4 can.
    const asked = [
      { body: same, status: 201 },
      { body: hold(accountId, 1), status: 201 },
      { body: hold(otherId, 2.01), status: 409 },
      { body: hold(poor, 1), status: 409 },
      { body: hold(newId(), 1), status: 400 },
      { body: hold(accountId, 4), status: 201 },
      { body: hold(otherId, 2), status: 201 },
      { body: same, status: 201 },
      { body: hold(accountId, 10.01), status: 409 },
      { body: hold(accountId, 4), status: 201 },
    ];
    const answers = await Promise.all(
      asked.map(({ body }, index) =>
        tenant.post('/v1/holds', body).set('x-request-id', `caller-${index}`),
      ),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal(asked.map(({ status }) => status));
    const [first, , , , , , , again] = answers;
    expect(again?.body.id).to.equal(first?.body.id);
    await tenant.post('/v1/holds', { ...same, amount: 2 }).expect(409);
    await tenant.post('/v1/holds', { ...same, accountId: otherId }).expect(409);
    const audited: { after: { key: string }; callerRequestId: string; actor: string }[] = (
      await tenant.get('/v1/audit?entity=walletHold&limit=100').expect(200)
    ).body.data;
    for (const [index, { body, status }] of asked.entries()) {
      const own = audited.filter(({ after }) => after.key === body.key);
      expect(own, `hold ${index}`).to.have.length(status === 201 ? 1 : 0);
      const callers = body === same ? ['caller-0', 'caller-7'] : [`caller-${index}`];
      for (const { callerRequestId, actor } of own) {
        expect(callers).to.include(callerRequestId);
        expect(actor).to.equal(tenant.scope.actor);
      }
    }
    expect(await balanceOf(accountId)).to.include({ balance: 10, held: 10, available: 0 });
    expect(await balanceOf(otherId)).to.include({ balance: 2, held: 2, available: 0 });
  });

  // spec/beyond.md R151
  it('are entered after what they have waited for, whatever the time was when they came', async () => {
    const { accountId, walletId } = await addAccount(10);
    const early = { ...tenant.scope, now: () => new Date(Date.now() - 60_000) };
    const input = { ...hold(accountId, 1), amount: new Decimal(1) };
    const { expiresAt } = await createHold(early, input);
    const [granted, held] = await readEntries(tenant, walletId);
    expect(held?.createdAt).to.equal(granted?.createdAt);
    expect(Date.parse(expiresAt) - Date.parse(held?.createdAt ?? '')).to.equal(600_000);
  });

  it('are made under an Idempotency-Key, too', async () => {
    const { accountId } = await addAccount(10);
    const body = hold(accountId, 6);
    const send = () => tenant.post('/v1/holds', body).set('idempotency-key', body.key);
    const [made, again] = [await send().expect(201), await send().expect(201)];
    expect(again.body).to.deep.equal(made.body);
    expect(made.body).to.include({ amount: 6, available: 4 });
    const more = hold(accountId, 5);
    const refused = await tenant.post('/v1/holds', more).set('idempotency-key', more.key);
    expect(refused.status).to.equal(409);
    expect(await balanceOf(accountId)).to.include({ held: 6, available: 4 });
  });

  // spec/beyond.md R271
  it('are drawn first by the charge of their event, and the rest is released', async () => {
    const { accountId, walletId, ref } = await addAccount(10);
    const { body } = await tenant.post('/v1/holds', hold(accountId, 6)).expect(201);
    const message = event(ref, 250);
    const path = `/v1/holds/${body.id as string}/commit`;
    const done = await tenant.post(path, { message }).expect(200);
    expect(done.body).to.include({
      holdId: body.id,
      amount: 2.5,
      status: 'committed',
      drawnFromHold: 2.5,
      drawnFromBalance: 0,
      billed: 0,
      released: 3.5,
      available: 7.5,
    });
    expect(done.body.charge).to.include({ amount: 2.5, accountId });
    expect(done.body.charge.explanation.credits).to.have.length(1);
    expect(await entriesOf(walletId)).to.deep.equal([
      'grant 10 = 10',
      'hold 6 = 10',
      'draw -2.5 = 7.5',
      'release 3.5 = 7.5',
    ]);
    expect(await balanceOf(accountId)).to.deep.equal({
      balance: 7.5,
      held: 0,
      available: 7.5,
      spent: 2.5,
    });
    const again = await tenant.post(path, { message }).expect(200);
    expect(again.body).to.deep.equal(done.body);
    await tenant.post(path, { message: event(ref, 1) }).expect(409);
    await tenant.delete(`/v1/holds/${body.id as string}`).expect(409);
  });

  it('that are too small are drawn with what else is available, and the rest is billed', async () => {
    const { accountId, walletId, ref } = await addAccount(10);
    const { body } = await tenant.post('/v1/holds', hold(accountId, 4)).expect(201);
    const other = await tenant.post('/v1/holds', hold(accountId, 3)).expect(201);
    // 12.00: 4 of the hold, 3 that are available, 5 billed; 3 stay promised to the other hold.
    const done = await tenant
      .post(`/v1/holds/${body.id as string}/commit`, { message: event(ref, 1_200) })
      .expect(200);
    expect(done.body).to.include({
      drawnFromHold: 4,
      drawnFromBalance: 3,
      billed: 5,
      released: 0,
      available: 0,
    });
    expect(await balanceOf(accountId)).to.include({ balance: 3, held: 3, spent: 12 });
    const grants = (await tenant.get(`/v1/wallets/${walletId}/grants`).expect(200)).body.data;
    // Revoking leaves held money alone, until it is released.
    const revoke = `/v1/wallets/${walletId}/grants/${grants[0].id as string}/revoke`;
    expect((await tenant.post(revoke).expect(200)).body).to.include({ remaining: 3, held: 3 });
    await tenant.delete(`/v1/holds/${other.body.id as string}`).expect(204);
    expect((await entriesOf(walletId)).slice(-2)).to.deep.equal(['release 3 = 3', 'revoke -3 = 0']);
  });

  // spec/beyond.md R272
  it('that are committed with one event at the same moment: one is, the other stays', async () => {
    const { accountId, ref } = await addAccount(10);
    const made = await Promise.all(
      [4, 3].map((amount) => tenant.post('/v1/holds', hold(accountId, amount)).expect(201)),
    );
    const ids: readonly string[] = made.map(({ body }) => body.id);
    const message = event(ref, 200);
    const commit = (id: string) => tenant.post(`/v1/holds/${id}/commit`, { message });
    const answers = await Promise.all(ids.map(commit));
    const done = answers.findIndex(({ status }) => status === 200);
    const refused = answers[1 - done];
    expect(refused?.status).to.equal(409);
    expect(answers[done]?.body).to.include({ drawnFromHold: 2, billed: 0 });
    // 10 - 2; 3 or 4 are still promised to the other, for another event.
    const stays = done === 0 ? 3 : 4;
    expect(await balanceOf(accountId)).to.include({ balance: 8, held: stays, spent: 2 });
    const other = ids[1 - done] ?? '';
    const taken = await commit(other).expect(409);
    const { externalTransactionId } = message;
    expect(taken.body.error.details).to.include({ value: externalTransactionId });
    const next = { message: event(ref, 100) };
    const { body } = await tenant.post(`/v1/holds/${other}/commit`, next).expect(200);
    expect(body).to.include({ drawnFromHold: 1, released: stays - 1, available: 7 });
  });

  // spec/beyond.md R272
  it('of two accounts that are committed with events of one id at the same moment: one is', async () => {
    const [one, other] = [await addAccount(100), await addAccount(100)];
    for (let round = 1; round <= 10; round += 1) {
      const ids: string[] = [];
      for (const { accountId } of [one, other]) {
        ids.push((await tenant.post('/v1/holds', hold(accountId, 2)).expect(201)).body.id);
      }
      const externalTransactionId = `shared-${round}`;
      const answers = await Promise.all(
        [one, other].map(({ ref }, index) =>
          tenant.post(`/v1/holds/${ids[index]}/commit`, {
            message: { ...event(ref, 100), externalTransactionId },
          }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409]);
      const done = answers.findIndex(({ status }) => status === 200);
      const [winner, loser] = done === 0 ? [one, other] : [other, one];
      expect(answers[done]?.body).to.include({ accountId: winner.accountId, drawnFromHold: 1 });
      expect(answers[done]?.body.charge).to.include({ accountId: winner.accountId, amount: 1 });
      expect(await balanceOf(winner.accountId)).to.include({ held: 0 });
      expect(await balanceOf(loser.accountId)).to.include({ held: 2 });
      await tenant.delete(`/v1/holds/${ids[1 - done]}`).expect(204);
    }
  });

  // spec/beyond.md R272
  it('stay when usage of another account came first under the id of their event', async () => {
    const [own, other] = [await addAccount(100), await addAccount(100)];
    for (let round = 1; round <= 10; round += 1) {
      const { body } = await tenant.post('/v1/holds', hold(own.accountId, 2)).expect(201);
      const externalTransactionId = `foreign-${round}`;
      const [, commit] = await Promise.all([
        tenant
          .post('/v1/ingest/usage', {
            message: { ...event(other.ref, 300), externalTransactionId },
          })
          .expect(200),
        tenant.post(`/v1/holds/${body.id as string}/commit`, {
          message: { ...event(own.ref, 100), externalTransactionId },
        }),
      ]);
      const isFirst = commit.status === 200;
      if (isFirst) expect(commit.body.charge).to.include({ accountId: own.accountId, amount: 1 });
      else expect(commit.status, commit.text).to.equal(409);
      expect(await balanceOf(own.accountId)).to.include({ held: isFirst ? 0 : 2 });
      await tenant.delete(`/v1/holds/${body.id as string}`).expect(isFirst ? 409 : 204);
    }
  });

  // spec/beyond.md R272
  it('stay when their event cannot be rated', async () => {
    const { accountId, ref } = await addAccount(10);
    const { body } = await tenant.post('/v1/holds', hold(accountId, 4)).expect(201);
    const path = `/v1/holds/${body.id as string}/commit`;
    const unknown = { ...event(ref, 10), serviceId: newId() };
    const refused = await tenant.post(path, { message: unknown }).expect(400);
    expect(refused.body.error.details.code).to.equal('SERVICE_NOT_FOUND');
    const stranger = await addAccount(10);
    const other = await tenant.post(path, { message: event(stranger.ref, 10) }).expect(400);
    expect(other.body.error.message).to.include(`'${stranger.accountId}' in USD`);
    expect(other.body.error.details).to.include({ field: 'message', value: stranger.ref });
    expect(await balanceOf(accountId)).to.include({ held: 4 });
    await tenant.post(path, { message: event(ref, 10) }).expect(200);
    await tenant.post(`/v1/holds/${newId()}/commit`, { message: event(ref, 10) }).expect(404);
  });

  // spec/beyond.md R273
  it('release themselves when they expire', async () => {
    const { accountId, walletId, ref } = await addAccount(10);
    const { body } = await tenant
      .post('/v1/holds', hold(accountId, 10, { expiresInSeconds: 1 }))
      .expect(201);
    await tenant.post('/v1/holds', hold(accountId, 1)).expect(409);
    await wait(1_050);
    await tenant.post('/v1/holds', hold(accountId, 1)).expect(201);
    expect(await entriesOf(walletId)).to.include('release 10 = 10');
    const path = `/v1/holds/${body.id as string}/commit`;
    const late = await tenant.post(path, { message: event(ref, 10) }).expect(409);
    expect(late.body.error.message).to.include('expired');
    await tenant.delete(`/v1/holds/${body.id as string}`).expect(204);
  });

  // spec/beyond.md R274
  it('are in the balance of the account, by currency', async () => {
    const { accountId } = await addAccount(10);
    await createWallet(tenant, accountId, { currency: 'EUR', balance: 7 });
    const path = `/v1/accounts/${accountId}/balance`;
    const { body } = await tenant.get(path).expect(400);
    expect(body.error.message).to.include('EUR, USD');
    expect((await tenant.get(`${path}?currency=EUR`).expect(200)).body).to.deep.equal({
      accountId,
      currency: 'EUR',
      balance: 7,
      held: 0,
      available: 7,
      spent: { period: new Date().toISOString().slice(0, 7), amount: 0 },
    });
    await tenant.get(`/v1/accounts/${newId()}/balance`).expect(404);
  });
});
