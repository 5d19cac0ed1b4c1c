import { expect } from 'chai';
import { idempotencyOf } from '../../../src/schemas/http/idempotency-key.js';
import { tellStory } from '../../support/http/answer-story.js';
import { declaredOperations } from '../../support/http/answers.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../../support/servers/instance.js';

const accounts = `${external}/accounts`;
const contracts = `${external}/contracts`;

const keyed = (tenant: TestTenant, path: string, body: object, key = 'once') =>
  tenant.post(path, body).set('Idempotency-Key', key);

const countOf = async (tenant: TestTenant, path: string): Promise<number> =>
  (await tenant.get(path).expect(200)).body.data.totalElements;

describe('an Idempotency-Key of a request that starts no workflow', () => {
  let instance: TestInstance;
  before(async () => {
    instance = await openTestInstance();
  });
  after(() => instance.close());

  it('makes of a contract that is sent twice one contract', async () => {
    const tenant = await instance.tenant();
    await tenant.post(accounts, { name: 'Acme', externalId: 'acme' }).expect(201);
    // Without a number: each would get one of its own.
    const contract = { accountExtId: 'acme', name: 'C', startDate: '2026-01-01' };
    const first = await keyed(tenant, contracts, contract).expect(201);
    const again = await keyed(tenant, contracts, contract).expect(201);
    expect(again.text).to.equal(first.text);
    expect(again.headers['content-type']).to.equal(first.headers['content-type']);
    expect(await countOf(tenant, contracts)).to.equal(1);
    // Without a key each is a request of its own.
    await tenant.post(contracts, contract).expect(201);
    expect(await countOf(tenant, contracts)).to.equal(2);
  });

  // spec/beyond.md R4
  it('gives ten at the same time one effect and one answer', async () => {
    const tenant = await instance.tenant();
    const send = () => keyed(tenant, accounts, { name: 'Acme' });
    const answers = await Promise.all(Array.from({ length: 10 }, send));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(10).fill(201));
    expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
    expect(await countOf(tenant, accounts)).to.equal(1);
  });

  it('refuses another body, another path, another operation and a flow', async () => {
    const tenant = await instance.tenant();
    const { body } = await keyed(tenant, accounts, { name: 'Acme' }).expect(201);
    const { body: other } = await tenant.post(accounts, { name: 'Other' }).expect(201);
    const refused = async (path: string, sent: object, key = 'once') => {
      const answer = await keyed(tenant, path, sent, key).expect(409);
      const { message = answer.body.error.message } = answer.body;
      expect(message).to.equal('This Idempotency-Key was used for another request.');
    };
    await refused(accounts, { name: 'Acme 2' });
    await refused(`${external}/services`, { name: 'Acme' });
    const address = { line1: 'Main Street 1' };
    await keyed(tenant, `${accounts}/${body.id}/addresses`, address, 'address').expect(201);
    await refused(`${accounts}/${other.id}/addresses`, address, 'address');
    await refused(`${external}/run/billing/account/approve`, { ID_Account: body.id });
    // The same members in another order are the same body.
    const turned = '{"externalId":"x","name":"Turned"}';
    const first = await keyed(tenant, accounts, { name: 'Turned', externalId: 'x' }, 'turned');
    const again = await tenant.post(accounts, turned).set('Idempotency-Key', 'turned').expect(201);
    expect(again.text).to.equal(first.text);
  });

  it('is free again after a refusal, and names of the body are read when it is done', async () => {
    const tenant = await instance.tenant();
    const contract = { accountExtId: 'late', name: 'C' };
    await keyed(tenant, contracts, contract).expect(400);
    const wallet = { title: 'W', accountId: 'late' };
    await keyed(tenant, `${external}/wallets`, wallet, 'wallet').expect(400);
    const { body: account } = await tenant
      .post(accounts, { name: 'Late', externalId: 'late' })
      .expect(201);
    const first = await keyed(tenant, contracts, contract).expect(201);
    await keyed(tenant, `${external}/wallets`, wallet, 'wallet').expect(201);
    // What the names stood for is not asked again.
    await tenant.put(`${accounts}/${account.id}`, { externalId: 'renamed' }).expect(200);
    const again = await keyed(tenant, contracts, contract).expect(201);
    expect(again.text).to.equal(first.text);
    // The key of a request that was refused may be given to another.
    await keyed(tenant, accounts, { name: 'L', externalId: 'renamed' }, 'freed').expect(409);
    await keyed(tenant, accounts, { name: 'L', externalId: 'other' }, 'freed').expect(201);
  });

  it('belongs to its tenant', async () => {
    const [one, two] = [await instance.tenant(), await instance.tenant()];
    await keyed(one, accounts, { name: 'Acme' }).expect(201);
    await keyed(two, accounts, { name: 'Umbrella' }).expect(201);
    expect(await countOf(two, accounts)).to.equal(1);
  });

  it('holds for a bulk of records, each of which stands alone', async () => {
    const tenant = await instance.tenant();
    const fields = [{ name: 'n', type: 'number', unique: true }];
    await tenant.post('/v1/mobjects', { name: 'note', fields }).expect(201);
    const bulk = { data: [{ n: 1 }, { n: 1 }, { n: 'x' }, { n: 2 }] };
    const first = await keyed(tenant, '/v1/mobjects/note/mdata/bulk', bulk);
    const again = await keyed(tenant, '/v1/mobjects/note/mdata/bulk', bulk);
    expect([again.status, again.text]).to.deep.equal([first.status, first.text]);
    expect(first.body.data.map((one: { error?: object }) => one.error !== undefined)).to.deep.equal(
      [false, true, true, false],
    );
    // Enough for two halves side by side.
    const many = { data: Array.from({ length: 2_500 }, (_one, n) => ({ n })) };
    await tenant.post('/v1/mobjects', { name: 'plain' }).expect(201);
    const large = await keyed(tenant, '/v1/mobjects/plain/mdata/bulk', many, 'large').expect(200);
    const repeated = await keyed(tenant, '/v1/mobjects/plain/mdata/bulk', many, 'large');
    expect(repeated.text).to.equal(large.text);
    const { body } = await tenant.get('/v1/mobjects/plain/mdata?limit=1').expect(200);
    expect(body.pagination.total).to.equal(2_500);
  });

  it('that is no key is refused before anything is done', async () => {
    const tenant = await instance.tenant();
    await keyed(tenant, accounts, { name: 'Acme' }, 'with blank').expect(400);
    expect(await countOf(tenant, accounts)).to.equal(0);
  });
});

describe('every operation that takes an Idempotency-Key and starts no workflow', () => {
  let instance: TestInstance;
  before(async () => {
    instance = await openTestInstance();
  });
  after(() => instance.close());

  // spec/beyond.md R4
  it('has one effect and one answer, and refuses the key of another request', async () => {
    const tenant = await instance.tenant();
    await keyed(tenant, accounts, { name: 'First' }, 'taken').expect(201);
    const seen = new Set<string>();
    let number = 0;
    await tellStory(instance, tenant, async ({ id }, send) => {
      seen.add(id);
      const taken = await send({ 'Idempotency-Key': 'taken' });
      expect(taken.status, id).to.equal(409);
      number += 1;
      const key = { 'Idempotency-Key': `key-${number}` };
      const [one, two] = await Promise.all([send(key), send(key)]);
      const three = await send(key);
      for (const other of [two, three]) {
        expect([other.status, other.text], id).to.deep.equal([one.status, one.text]);
      }
      return one;
    });
    const expected = declaredOperations.filter((one) => idempotencyOf(one) === 'transaction');
    expect([...seen].sort()).to.deep.equal(expected.map(({ id }) => id).sort());
    expect(seen.size).to.be.above(20);
  }).timeout(240_000);
});
