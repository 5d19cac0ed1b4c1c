import { expect } from 'chai';
import pg from 'pg';
import { Account } from '../../../src/models/accounts/account.js';
import { prepareQuery } from '../../../src/models/db/prepared-query.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../../support/servers/instance.js';

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

  it('go on when a migration adds, drops and moves columns', async () => {
    const { db, tenantId } = tenant.scope;
    const values = { name: 'Same', limit: 1 };
    const [before] = await byName(db.read, tenantId, values);
    const migrate = async (sql: string) => {
      const client = new pg.Client({ connectionString: instance.databaseUrl });
      await client.connect();
      await client.query(sql);
      await client.end();
    };
    await migrate(`alter table account add column shoe_size text default '42'`);
    const [added] = await byName(db.read, tenantId, values);
    expect(added).to.deep.equal({ ...before, shoeSize: '42' });
    // As many columns as before, others and in another order.
    await migrate(`
      alter table account drop column shoe_size, add column hat_size text default '57';
      alter table account rename column pan to pan_number;
      alter table account add column pan text default 'new';
      alter table account drop column pan_number;
    `);
    const [moved] = await byName(db.read, tenantId, values);
    expect(moved).to.deep.equal({ ...before, hatSize: '57', pan: 'new' });
  });
});
