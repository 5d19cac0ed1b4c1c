import { expect } from 'chai';
import pg from 'pg';
import { Account } from '../../src/models/account.js';
import { prepareQuery } from '../../src/models/prepared-query.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/instance.js';

const byName = prepareQuery(Account, { name: 'text', limit: 'number' }, (query, values) =>
  query.existing().where({ name: values.name, isMaster: false }).orderBy('id').limit(values.limit),
);

describe('prepared queries', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  before(async () => {
    instance = await openTestInstance();
    tenant = await instance.tenant();
    for (const contact of [1, 2, 3]) {
      await tenant
        .post(`${external}/accounts`, { name: 'Same', contactInfoList: [{ contact }] })
        .expect(201);
    }
  });
  after(() => instance.close());

  it('give what Objection gives', async () => {
    const { db, tenantId } = tenant.scope;
    const expected = await Account.query(db.read)
      .forTenant(tenantId)
      .existing()
      .where({ name: 'Same', isMaster: false })
      .orderBy('id')
      .limit(2);
    const given = await byName(db.read, tenantId, { name: 'Same', limit: 2 });
    expect(given).to.have.length(2);
    expect(given[0]).to.be.instanceOf(Account);
    expect(given.map((account) => ({ ...account }))).to.deep.equal(
      expected.map((account) => ({ ...account })),
    );
    expect(await byName(db.read, tenantId, { name: 'Same', limit: 1 })).to.have.length(1);
    expect(await byName(db.read, tenantId, { name: "x' or '1'='1", limit: 9 })).to.deep.equal([]);
  });

  it('show a tenant its own rows only, whichever of handle and tenant is another', async () => {
    const other = (await instance.tenant()).scope;
    const mine = tenant.scope;
    const values = { name: 'Same', limit: 9 };
    expect(await byName(other.db.read, other.tenantId, values)).to.deep.equal([]);
    expect(await byName(other.db.read, mine.tenantId, values)).to.deep.equal([]);
    expect(await byName(mine.db.read, other.tenantId, values)).to.deep.equal([]);
    expect(await byName(mine.db.read, mine.tenantId, values)).to.have.length(3);
    let message = '';
    await byName(mine.db.read, '', values).catch((error: Error) => (message = error.message));
    expect(message).to.contain('empty tenant');
  });

  it('see what their own transaction wrote, and give connections back', async () => {
    const { db, tenantId } = tenant.scope;
    const values = { name: 'Inside', limit: 9 };
    // More runs than the pool has connections.
    for (let round = 0; round < 15; round += 1) {
      await db.transaction(async (trx) => {
        await Account.query(trx).forTenant(tenantId).insert({ name: 'Inside' });
        expect(await byName(trx, tenantId, values)).to.have.length(1);
        expect(await byName(db.read, tenantId, values)).to.have.length(0);
        await Account.query(trx).forTenant(tenantId).where({ name: 'Inside' }).delete();
      });
    }
  });

  it('go on when a migration adds a column', async () => {
    const { db, tenantId } = tenant.scope;
    const values = { name: 'Same', limit: 1 };
    await byName(db.read, tenantId, values);
    const client = new pg.Client({ connectionString: instance.databaseUrl });
    await client.connect();
    await client.query(`alter table account add column shoe_size text default '42'`);
    await client.end();
    const [account] = await byName(db.read, tenantId, values);
    expect(account).to.include({ shoeSize: '42', name: 'Same' });
  });
});
