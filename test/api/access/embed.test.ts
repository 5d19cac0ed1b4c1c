import { expect } from 'chai';
import { decodeJwt } from 'jose';
import request from 'supertest';
import { newId } from '../../../src/kernel/id.js';
import type { Operation } from '../../../src/schemas/http/operation.js';
import { accessOf } from '../../../src/schemas/http/operation-access.js';
import { usage } from '../../support/billing/usage.js';
import { declaredOperations } from '../../support/http/answers.js';
import { sendRaw } from '../../support/http/raw.js';
import { external } from '../../support/servers/instance.js';
import { useStory } from '../../support/story/story.js';

interface Embed {
  readonly token: string;
  readonly tokenId: string;
  readonly accountId: string;
  readonly expiresAt: string;
}

// spec/beyond.md R252, R253
describe('the token of an embed', () => {
  const story = useStory();
  const { instance, tenant } = story;
  let acme: Embed;
  /** What acme and other have, by what it is. */
  const own: Record<string, string> = {};
  const others: Record<string, string> = {};

  const create = async (body: object): Promise<Embed> =>
    (await tenant.post('/v1/embeds', body).expect(201)).body;
  const get = (path: string, { token } = acme) =>
    request(instance.url).get(path).set('Authorization', `Bearer ${token}`);

  before(async () => {
    const calls = await story.service('Calls');
    for (const [name, ids] of [
      ['acme', own],
      ['other', others],
    ] as const) {
      const accountId = await story.account(name);
      const [event = ''] = await story.send(usage(name, calls));
      const { invoices } = await story.bill('2026-03', { accountId });
      const { body } = await tenant
        .post(`${external}/payments`, {
          accountId,
          amount: 1,
          currency: 'USD',
          paymentReference: `P-${name}`,
          paymentMethod: 'Cash',
          paymentDate: '2026-04-01',
          paymentType: 'Pay In',
        })
        .expect(201);
      const { ratedTransactions } = await story.event(event);
      const charge = (ratedTransactions as { id: string }[])[0]?.id ?? '';
      Object.assign(ids, { accountId, event, invoice: invoices[0]?.id, payment: body.id, charge });
    }
    acme = await create({ accountId: 'acme', expiresInSeconds: 600 });
  });

  const records = (ids: Record<string, string>): readonly string[] => [
    `${external}/invoices/${ids['invoice']}`,
    `${external}/invoices/${ids['invoice']}/pdf`,
    `${external}/payments/${ids['payment']}`,
    `/v1/payments/${ids['payment']}/applications`,
    `${external}/rated-transactions/${ids['charge']}`,
    `/v1/usage-events/${ids['event']}`,
  ];

  it('says of whom it is, and when it ends', () => {
    expect(acme.accountId).to.equal(own['accountId']);
    const seconds = (Date.parse(acme.expiresAt) - Date.now()) / 1000;
    expect(seconds).to.be.within(500, 600);
  });

  it('reads usage, invoices and receipts of its account', async () => {
    for (const path of records(own)) await get(path).expect(200);
    const rows = async (path: string) => {
      const { body } = await get(path).expect(200);
      return (body.data.content ?? body.data) as Record<string, unknown>[];
    };
    const idsOf = async (path: string, name: string) => (await rows(path)).map((row) => row[name]);
    expect(await idsOf(`${external}/invoices`, 'Id')).to.deep.equal([own['invoice']]);
    expect(await idsOf(`${external}/payments`, 'Id')).to.deep.equal([own['payment']]);
    expect(await idsOf(`${external}/rated-transactions`, 'Id')).to.deep.equal([own['charge']]);
    const events = await idsOf('/v1/usage-events', 'externalTransactionId');
    expect(events).to.deep.equal([own['event']]);
    const totals = await rows('/v1/usage?groupBy=account');
    expect(totals.map(({ group }) => group)).to.deep.equal([{ account: own['accountId'] }]);
    expect(await rows('/v1/usage?account=acme')).to.have.length(1);
  });

  it('knows nothing of others', async () => {
    for (const path of records(others)) {
      const { body } = await get(path).expect(404);
      expect(JSON.stringify(body)).to.not.include(others['accountId']);
    }
    for (const path of [
      `${external}/invoices?accountId=other`,
      `${external}/payments?accountId=${others['accountId']}`,
      `${external}/rated-transactions?accountId=other`,
      '/v1/usage-events?accountId=other',
      '/v1/usage?account=other',
    ]) {
      await get(path).expect(403);
    }
    await get(`${external}/invoices/${newId()}`).expect(404);
    await get('/v1/usage-events/none').expect(404);
  });

  // spec/beyond.md R450
  it('reads each event that its list has, of what others bear too its own charge alone', async () => {
    const sold = await story.account('sold');
    const partner = await story.account('partner');
    const serviceId = await story.service('Shared');
    const accountMap = { [sold]: 1, [partner]: 3 };
    await story.subscribe(sold, [{ serviceId, accountMap }], { startDate: '2026-01-01' });
    const [key = ''] = await story.send(usage('sold', serviceId));
    const user = await create({ accountId: sold, expiresInSeconds: 60 });
    const { body: list } = await get('/v1/usage-events', user).expect(200);
    expect(list.data).to.have.length(1);
    for (const name of [key, list.data[0].id]) {
      const { body } = await get(`/v1/usage-events/${name}`, user).expect(200);
      // 100 calls at 0.01 are 1.00, a quarter of it.
      expect(body.ratedTransactions).to.have.length(1);
      expect(body.ratedTransactions[0]).to.include({
        accountId: sold,
        amount: 0.25,
        explanation: null,
        matches: true,
      });
      expect(body.message).to.equal(null);
      expect(body.messageNote).to.match(/^Others are billed for it/);
      expect(JSON.stringify(body)).to.not.include(partner);
    }
    const other = await create({ accountId: partner, expiresInSeconds: 60 });
    await get(`/v1/usage-events/${key}`, other).expect(404);
    // Who may read all of it sees both.
    expect((await story.event(key)).ratedTransactions).to.have.length(2);
  });

  // spec/beyond.md R455
  it('reads of what others used its own charges, and nothing of what was sent', async () => {
    const seller = await story.account('seller');
    const agent = await story.account('agent');
    const shared = await story.service('Sold together');
    const row = { priceDimName: 'api_calls', label: 'Calls', priceMethod: 'QUANTITY' };
    const borne = await story.service('Borne by an agent', {
      rateCards: [{ currency: 'USD', rows: [{ ...row, unitRate: 0.02, billingAccountId: agent }] }],
    });
    const of = { serviceInstanceId: 'seller-1' };
    const { id: contract } = await story.subscribe(
      seller,
      [
        { ...of, serviceId: shared, accountMap: { [seller]: 1, [agent]: 3 } },
        { ...of, serviceId: borne },
      ],
      { startDate: '2026-01-01' },
    );
    const [key = ''] = await story.send(usage('seller', shared), usage('seller', borne));
    const knownOn = new Date().toISOString();
    const totals = async (user: Embed, query: string) => {
      const { body } = await get(`/v1/usage?${query}`, user).expect(200);
      type Total = Record<'group' | 'events' | 'quantity' | 'amount', unknown>;
      return (body.data as Total[]).map(({ group, events, quantity, amount }) => ({
        group,
        events,
        quantity,
        amount,
      }));
    };
    const charges = `${external}/rated-transactions`;
    const listed = async (user: Embed, query = '') =>
      (await get(`${charges}?${query}`, user).expect(200)).body.data.content as Record<
        string,
        unknown
      >[];

    const other = await create({ accountId: agent, expiresInSeconds: 60 });
    // Three quarters of 100 calls at 0.01, and 100 calls at 0.02.
    const own = [{ group: { contract: null }, events: 2, quantity: 175, amount: 2.75 }];
    for (const at of ['', `&knownOn=${knownOn}`, '&bucket=hour', '&from=2026-03-15T11:30:00Z']) {
      expect(await totals(other, `groupBy=contract${at}`), at).to.deep.equal(own);
      expect(await totals(other, `contract=${contract}${at}`), at).to.deep.equal([]);
      for (const query of [
        'groupBy=dimension:api_calls',
        'groupBy=contract,dimension:api_calls',
        'dimension:api_calls=100',
      ]) {
        expect(await totals(other, `${query}${at}`), `${query}${at}`).to.deep.equal([]);
      }
    }
    const rows = await listed(other);
    expect(rows).to.have.length(2);
    for (const shown of rows) {
      const { body } = await get(`${charges}/${String(shown['Id'])}`, other).expect(200);
      expect(body).to.include({
        accountId: agent,
        externalTranId: null,
        masterAccountId: null,
        serviceInstanceId: null,
        contractId: null,
      });
      for (const secret of [seller, contract, 'seller-1', key]) {
        expect(JSON.stringify([shown, body])).to.not.include(secret);
      }
    }
    // What is not told is not found by trying, either.
    expect(await listed(other, `q=${key}`)).to.deep.equal([]);

    const user = await create({ accountId: seller, expiresInSeconds: 60 });
    for (const at of ['', `&knownOn=${knownOn}`]) {
      expect(await totals(user, `groupBy=contract,dimension:api_calls${at}`)).to.deep.equal([
        {
          group: { contract, 'dimension:api_calls': '100' },
          events: 1,
          quantity: 25,
          amount: 0.25,
        },
      ]);
      expect(await totals(user, `contract=${contract}${at}`)).to.have.length(1);
    }
    const [row1] = await listed(user, `q=${key}`);
    expect(row1).to.include({
      ExternalTranId: key,
      MasterAccountId: seller,
      ServiceInstanceId: 'seller-1',
      ContractId: contract,
    });
  });

  // spec/beyond.md R450
  it('reads nothing of the time when an event was of another account', async () => {
    await story.account('from');
    const to = await story.account('to');
    const serviceId = await story.service('Moved');
    const message = usage('from', serviceId);
    const [key = ''] = await story.send(message);
    const { processedAt } = await story.event(key);
    const knownOn = new Date(Date.parse(processedAt as string) + 1).toISOString();
    await tenant
      .post(`/v1/usage-events/${key}/amend`, {
        reason: 'It was of another.',
        message: { ...message, billingAccountRef: 'to' },
      })
      .expect(200);
    const user = await create({ accountId: to, expiresInSeconds: 60 });
    await get(`/v1/usage-events/${key}`, user).expect(200);
    const { body } = await get(`/v1/usage-events/${key}?knownOn=${knownOn}`, user).expect(404);
    expect(body.message ?? body.error?.message).to.equal(`There is no usage event '${key}'.`);
    // The account that it was moved away from reads its charges of then, and nothing of what was sent.
    const former = await create({ accountId: 'from', expiresInSeconds: 60 });
    for (const at of ['', `?knownOn=${knownOn}`]) {
      await get(`/v1/usage-events/${key}${at}`, former).expect(404);
    }
    const of = async (user: Embed, query: string) =>
      (await get(`/v1/usage?knownOn=${knownOn}${query}`, user).expect(200)).body.data.map(
        ({ events, amount }: { events: number; amount: number }) => [events, amount],
      );
    expect(await of(former, '')).to.deep.equal([[1, 1]]);
    expect(await of(former, '&groupBy=dimension:api_calls')).to.deep.equal([]);
    expect(await of(user, '')).to.deep.equal([]);
    // It is there for who may read all.
    const { body: before } = await tenant
      .get(`/v1/usage-events/${key}?knownOn=${knownOn}`)
      .expect(200);
    expect(before.billingAccountRef).to.equal('from');
  });

  it('does nothing else, whatever there is', async () => {
    const refused = declaredOperations.filter(
      (one: Operation) => one.embed === undefined && accessOf(one) !== 'public',
    );
    expect(refused.length).to.be.greaterThan(100);
    for (const { method, path, id } of refused) {
      const { status } = await sendRaw(instance.url, {
        method,
        path: path.replace(/\{\w+\}/g, newId()),
        headers: { Authorization: `Bearer ${acme.token}` },
      });
      expect(status, id).to.equal(403);
    }
    const { status } = await sendRaw(instance.url, {
      method: 'POST',
      path: '/mcp',
      headers: { Authorization: `Bearer ${acme.token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    expect(status).to.equal(403);
  });

  it('ends in its time, and when it is revoked', async () => {
    const asked = Date.now();
    const short = await create({ accountId: own['accountId'], expiresInSeconds: 3 });
    // In whole seconds it was over up to a second before it was to be.
    expect(Number(decodeJwt(short.token).exp) * 1000).to.be.closeTo(Date.parse(short.expiresAt), 1);
    expect(Date.parse(short.expiresAt)).to.be.within(asked + 3_000, Date.now() + 3_000);
    await get('/v1/usage', short).expect(200);
    while (Date.now() < Date.parse(short.expiresAt)) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await get('/v1/usage', short).expect(401);
    const revoked = await create({ accountId: 'acme', expiresInSeconds: 60 });
    await tenant.post(`/v1/tokens/${revoked.tokenId}/revoke`).expect(200);
    await get('/v1/usage', revoked).expect(401);
    const { body } = await tenant.get('/v1/audit?entity=accessToken').expect(200);
    expect(body.data.map(({ action }: { action: string }) => action)).to.include('create');
  });

  it('is refused for no account, and for no time', async () => {
    for (const body of [
      { accountId: 'nobody', expiresInSeconds: 60 },
      { accountId: newId(), expiresInSeconds: 60 },
      { accountId: 'acme' },
      { expiresInSeconds: 60 },
      { accountId: 'acme', expiresInSeconds: 0 },
      { accountId: 'acme', expiresInSeconds: -5 },
      { accountId: 'acme', expiresInSeconds: 1.5 },
      { accountId: 'acme', expiresInSeconds: '60s' },
      { accountId: 'acme', expiresInSeconds: 1e9 },
      { accountId: 'acme', expiresInSeconds: 60, roles: ['ADMIN'] },
    ]) {
      await tenant.post('/v1/embeds', body).expect(400);
    }
  });
});
