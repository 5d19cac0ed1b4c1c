import { expect } from 'chai';
import type pg from 'pg';
import { Account } from '../../src/models/accounts/account.js';
import { openDatabase } from '../../src/platform/database/database.js';
import { openTestInstance, type TestInstance } from '../support/servers/instance.js';
import { asOwner, listTables } from '../support/servers/rows.js';
import { buildWorld, type World } from '../support/http/world.js';

/** Tables that all tenants share; every other one must be protected. */
const sharedTables = new Set([
  'country',
  'currency',
  'picklist_value',
  'signing_key',
  'tenant',
  'knex_migrations',
  'knex_migrations_lock',
  'rate_limit',
  'usage_log',
  'audit_sealing',
  // Of the instance, or of no tenant until a user has consented.
  'mcp_client',
  'oauth_client',
  'oauth_decision',
  'execution_watch',
  'cell',
  'cell_identity',
  'received_event',
]);

const count = async (client: pg.Client, table: string): Promise<number> => {
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from ${table}`,
  );
  return rows[0]?.count ?? 0;
};

const failureOf = (work: () => PromiseLike<unknown>): Promise<unknown> =>
  new Promise((resolve) => {
    try {
      work().then(resolve, resolve);
    } catch (error) {
      resolve(error);
    }
  });

describe('row-level security', () => {
  let instance: TestInstance;
  let owner: World;
  let stranger: World;
  before(async () => {
    instance = await openTestInstance({ withWorkers: true });
    owner = await buildWorld(await instance.tenant());
    stranger = await buildWorld(await instance.tenant());
  });
  after(() => instance.close());

  it('is forced on every table that is not shared', async () => {
    await asOwner(instance.databaseUrl, async (client) => {
      for (const { name, hasTenant } of await listTables(client)) {
        expect(hasTenant, `${name} has tenant_id`).to.equal(!sharedTables.has(name));
        if (!hasTenant) continue;
        const { rows } = await client.query<{ enabled: boolean; forced: boolean }>(
          `select relrowsecurity as enabled, relforcerowsecurity as forced
           from pg_class where oid = $1::regclass`,
          [name],
        );
        expect(rows[0], name).to.deep.equal({ enabled: true, forced: true });
      }
    });
  });

  it('shows and changes nothing on a connection that names no tenant', async () => {
    await asOwner(instance.databaseUrl, async (client) => {
      const tables = (await listTables(client)).filter(({ hasTenant }) => hasTenant);
      expect(await count(client, 'account')).to.equal(2);
      await client.query('set role durabill_app');
      for (const { name } of tables) expect(await count(client, name), name).to.equal(0);
      const { rowCount } = await client.query('update account set name = $1', ['taken']);
      expect(rowCount).to.equal(0);
    });
  });

  it('shows a tenant nothing of another, even when a query asks for it', async () => {
    const { read } = stranger.tenant.scope.db;
    const seen = await read<{ tenantId: string }>('account').select('tenantId');
    expect(seen).to.deep.equal([{ tenantId: stranger.tenant.id }]);
    expect(await read('account').where({ tenantId: owner.tenant.id })).to.deep.equal([]);
    expect(await read('account').where({ id: owner.params['accountId'] })).to.deep.equal([]);
  });

  it('lets a tenant neither change nor delete nor plant rows of another', async () => {
    const { db } = stranger.tenant.scope;
    const theirs = { id: owner.params['accountId'] };
    await db.transaction(async (trx) => {
      expect(await trx('account').where(theirs).update({ name: 'taken' })).to.equal(0);
      expect(await trx('account').where(theirs).delete()).to.equal(0);
    });
    const planted = db.transaction((trx) =>
      trx('account')
        .where({ id: stranger.params['accountId'] })
        .update({ tenantId: owner.tenant.id }),
    );
    // SQLSTATE 42501: the new row violates the policy.
    expect(
      await planted.then(
        () => 'changed',
        (error: { code?: string }) => error.code,
      ),
    ).to.equal('42501');
  });

  it('keeps its tenant when a connection is used by one tenant after another', async () => {
    const tenants = [owner.tenant, stranger.tenant];
    for (let turn = 0; turn < 50; turn += 1) {
      const seen = await Promise.all(
        tenants.map(({ scope }) => scope.db.read('account').select('tenantId')),
      );
      expect(seen).to.deep.equal(tenants.map(({ id }) => [{ tenantId: id }]));
    }
  });

  it('goes on with a connection whose first entrance failed', async () => {
    const database = openDatabase(instance.databaseUrl, 1);
    const trail = { actor: 'x', requestId: 'x' };
    const { read } = database.forTenant(stranger.tenant.id, trail, 'request');
    const broken = database.forTenant('a\0b', trail, 'request').read('account');
    expect(await failureOf(() => broken)).to.have.property('code', '22021');
    expect(await read('account').select('tenantId')).to.deep.equal([
      { tenantId: stranger.tenant.id },
    ]);
    await database.close();
  });

  it('goes on with a statement that has a name, whatever failed before', async () => {
    const database = openDatabase(instance.databaseUrl, 1);
    const named = async (tenantId: string, amount: number): Promise<unknown> => {
      const { read } = database.forTenant(tenantId, { actor: 'x', requestId: 'x' }, 'request');
      const sql = 'select 1 / ?::integer as value, count(*)::integer as accounts from account';
      const { rows } = await read.raw<{ rows: object[] }>(sql, [amount]).options({ name: 'named' });
      return rows[0];
    };
    const own = { value: 1, accounts: 1 };
    // The entrance fails before the statement is known, the statement itself, and the entrance after.
    expect(await failureOf(() => named('a\0b', 1))).to.have.property('code', '22021');
    expect(await named(stranger.tenant.id, 1)).to.deep.equal(own);
    expect(await failureOf(() => named(stranger.tenant.id, 0))).to.have.property('code', '22012');
    expect(await named(stranger.tenant.id, 1)).to.deep.equal(own);
    expect(await failureOf(() => named('a\0b', 1))).to.have.property('code', '22021');
    expect(await named(owner.tenant.id, 1)).to.deep.equal(own);
    await database.close();
  });
});

describe('the tenant of a model query', () => {
  let instance: TestInstance;
  let world: World;
  before(async () => {
    instance = await openTestInstance({ withWorkers: true });
    world = await buildWorld(await instance.tenant());
  });
  after(() => instance.close());

  const cases: readonly (readonly [string, RegExp, (world: World) => PromiseLike<unknown>])[] = [
    ['a query without one', /names no tenant/, ({ tenant }) => Account.query(tenant.scope.db.read)],
    [
      'a query by id without one',
      /names no tenant/,
      ({ tenant, params }) =>
        Account.query(tenant.scope.db.read).findById(params['accountId'] ?? ''),
    ],
    [
      'an insert without one',
      /names no tenant/,
      ({ tenant }) => Account.query(tenant.scope.db.read).insert({ name: 'Nobody' }),
    ],
    [
      'an update without one',
      /names no tenant/,
      ({ tenant }) => Account.query(tenant.scope.db.read).patch({ name: 'Nobody' }),
    ],
    [
      'a delete without one',
      /names no tenant/,
      ({ tenant }) => Account.query(tenant.scope.db.read).delete(),
    ],
    [
      'an empty one',
      /empty tenant id/,
      ({ tenant }) => Account.query(tenant.scope.db.read).forTenant(''),
    ],
  ];
  for (const [name, message, work] of cases) {
    it(`refuses ${name}`, async () => {
      const failure = await failureOf(() => work(world));
      expect(failure).to.be.instanceOf(Error);
      expect((failure as Error).message).to.match(message);
    });
  }

  it('is what a relation is loaded for, too', async () => {
    const { scope, id } = world.tenant;
    const account = await Account.query(scope.db.read)
      .forTenant(id)
      .findById(world.params['accountId'] ?? '')
      .withGraphFetched('addresses');
    expect(account?.addresses?.map(({ tenantId }) => tenantId)).to.deep.equal([id]);
  });
});
