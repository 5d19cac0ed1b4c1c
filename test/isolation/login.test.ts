import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { runDurabill } from '../support/servers/command-line.js';
import pg from 'pg';
import { prepareDatabase } from '../../src/process/prepare-database.js';
import { secretBox } from '../../src/platform/secret-box.js';
import { recordSecurityEvent } from '../../src/access/security-events.js';
import { openDatabase, type Database } from '../../src/platform/database/database.js';
import { external, openTestInstance, type TestInstance } from '../support/servers/instance.js';
import { asOwner, listTables } from '../support/servers/rows.js';
import { asServiceLogin } from '../support/servers/service-login.js';
import { buildWorld, type World } from '../support/http/world.js';

const name = 'durabill_test_login';
const secret = randomBytes(32);
const box = secretBox(secret);
const password = `it's "a" ?password`;

describe('the login of running processes', function () {
  this.timeout(120_000);
  let instance: TestInstance;
  let owner: World;
  let stranger: World;
  let loginUrl: string;
  before(async () => {
    instance = await openTestInstance({
      withWorkers: true,
      secret,
      // The product itself runs with the login: whatever it needs, it may.
      route: async (databaseUrl) =>
        (loginUrl = await asServiceLogin({ name, password, secret })(databaseUrl)),
    });
    owner = await buildWorld(await instance.tenant());
    stranger = await buildWorld(await instance.tenant());
  });
  after(() => instance.close());

  const asLogin = async <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => {
    const client = new pg.Client({ connectionString: loginUrl });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  };
  const codeOf = (work: Promise<unknown>): Promise<string | undefined> =>
    work.then(
      () => undefined,
      (error: { code?: string }) => error.code,
    );

  it('suffices for the product', async () => {
    await owner.tenant.get(`${external}/accounts/${owner.params['accountId']}`).expect(200);
    await owner.tenant.get('/v1/audit').expect(200);
  });

  it('suffices for a workflow that waits for an event', async () => {
    const name = 'hears';
    const document = { dsl: '1.0.3', namespace: 'default', name, version: '1.0.0' };
    const listen = { to: { one: { with: { type: 'custom.n3' } } }, timeout: 'PT1S' };
    const definition = { document, do: [{ hear: { listen } }] };
    await owner.tenant.post('/v1/workflows', { definition }).expect(201);
    const { body } = await owner.tenant.post(`/v1/workflows/${name}/execute`, { data: {} });
    expect(body.error).to.include({ code: 'REQUEST_TIMEOUT' });
  });

  for (const sql of [
    `update audit set actor = 'somebody else'`,
    'delete from audit',
    'truncate audit',
    `insert into audit (tenant_id, entity, action) values ('x', 'account', 'create')`,
    'update audit_seal set position = 1',
    'delete from audit_seal',
    `update audit_sealing set sealed_to = 1000000`,
    'alter table audit disable trigger all',
    'alter table audit no force row level security',
    `insert into signing_key (kid, public_jwk, private_jwk_sealed) values ('x', '{}', 'x')`,
    'delete from signing_key',
    `update signing_key set private_jwk_sealed = 'x'`,
    `insert into access_key (id, tenant_id, roles, secret_hash) values ('x', 'x', '{}', 'x')`,
    `update access_key set roles = '{ADMIN}'`,
    'update access_key set revoked_at = null',
    'delete from access_key',
    `update tenant set plan = 'enterprise', request_limit = 1000000`,
    `insert into tenant (id, name) values ('planted', 'planted')`,
    'delete from tenant',
    `update seller set name = 'Somebody else'`,
    'set role postgres',
    'set role durabill_app',
    'set session authorization postgres',
    'alter role current_user superuser',
    `create role helper superuser`,
    'create table planted (x integer)',
    `create function planted() returns integer language sql as 'select 1'`,
    `select pg_read_file('PG_VERSION')`,
    `copy (select 1) to program 'true'`,
    'set session_replication_role = replica',
  ]) {
    it(`may not: ${sql}`, async () => {
      await asLogin(async (client) => {
        await client.query(`set app.tenant_id = '*'`);
        expect(await codeOf(client.query(sql))).to.equal('42501');
      });
    });
  }

  // docs/decisions/0518
  it('leads no function of the owner to a table of its own', async () => {
    const { id } = owner.tenant;
    await asLogin(async (client) => {
      await client.query(
        `create temporary table access_key
         (id text, tenant_id text, revoked_at timestamptz, expires_at timestamptz)`,
      );
      await client.query(`insert into access_key values ('planted', $1)`, [id]);
      await client.query('begin');
      await client.query(
        `select enter_tenant($1, 'x', 'x', '', null, '5000', '5000', '5000', null)`,
        [id],
      );
      const revoked = await client.query<{ is: boolean }>(
        `select revoke_access_key('planted', 'x', 'x', '') as is`,
      );
      expect(revoked.rows).to.deep.equal([{ is: false }]);
      await client.query('rollback');
    });
    const open = await asOwner(instance.databaseUrl, (reader) =>
      reader.query<{ name: string }>(
        `select proname as name from pg_proc
         where prosecdef and pronamespace = 'public'::regnamespace
           and not coalesce(proconfig, '{}') @> '{"search_path=pg_catalog, public, pg_temp"}'`,
      ),
    );
    expect(open.rows).to.deep.equal([]);
  });

  it('gains nothing by reset role', async () => {
    await asLogin(async (client) => {
      await client.query('set role durabill_service');
      await client.query('reset role');
      const { rows } = await client.query(
        `select current_user as "user", rolsuper, rolbypassrls, rolcreaterole
         from pg_roles where rolname = current_user`,
      );
      expect(rows).to.deep.equal([
        { user: name, rolsuper: false, rolbypassrls: false, rolcreaterole: false },
      ]);
    });
  });

  it('sees and writes nothing before it has entered a tenant, and nothing afterwards', async () => {
    const { id } = owner.tenant;
    const entrance = `select enter_tenant($1, 'x', 'x', '', null, '5000', '5000', '5000', null)`;
    const unseen = async (client: pg.Client): Promise<void> => {
      await asOwner(instance.databaseUrl, async (reader) => {
        for (const { name: table, hasTenant } of await listTables(reader)) {
          if (!hasTenant || table === 'audit_sealing') continue;
          const { rows } = await client.query(`select tenant_id from ${table}`);
          expect(rows, table).to.deep.equal([]);
        }
      });
      const { rowCount } = await client.query(`update account set name = 'taken'`);
      expect(rowCount).to.equal(0);
      const planted = client.query(
        `insert into tax_rate (tenant_id, id, code, rate)
         values ($1, gen_random_uuid(), 'planted', 1)`,
        [id],
      );
      expect(await codeOf(planted)).to.equal('42501');
    };
    await asLogin(async (client) => {
      await unseen(client);
      // Alone, it is a transaction of its own and is over.
      await client.query(entrance, [id]);
      await unseen(client);
      for (const end of ['commit', 'rollback']) {
        await client.query('begin');
        await client.query(entrance, [id]);
        const { rows } = await client.query('select distinct tenant_id from account');
        expect(rows).to.deep.equal([{ tenant_id: id }]);
        await client.query(end);
        await unseen(client);
        const { rows: settings } = await client.query(
          `select current_setting('statement_timeout') as "statementTimeout",
             current_setting('app.actor', true) as "actor"`,
        );
        expect(settings).to.deep.equal([{ statementTimeout: '0', actor: '' }]);
      }
    });
  });

  it('sees no business of all tenants at once', async () => {
    const tables = [
      'account',
      'contract',
      'contract_service',
      'invoice',
      'invoice_item',
      'payment',
      'record',
      'usage_event',
      'rated_transaction',
      'wallet',
      'rate_card',
      'service',
      'audit',
      'execution',
      'draft',
      'tax_rate',
      'tool_call',
    ];
    await asOwner(instance.databaseUrl, async (client) => {
      const { rows } = await client.query('select distinct tenant_id from account');
      expect(rows).to.have.length(2);
    });
    await asLogin(async (client) => {
      for (const tenant of ['*', '%', '', `${owner.tenant.id}' or '1'='1`]) {
        await client.query(`select set_config('app.tenant_id', $1, false)`, [tenant]);
        await client.query(`select set_config('app.sealing', 'on', false)`);
        for (const table of tables) {
          const { rows } = await client.query(
            `select tenant_id from ${table} where tenant_id <> '*'`,
          );
          expect(rows, `${table} as ${tenant}`).to.deep.equal([]);
        }
      }
      await client.query(`select set_config('app.tenant_id', $1, false)`, [stranger.tenant.id]);
      const { rows } = await client.query('select distinct tenant_id from account');
      expect(rows).to.deep.equal([{ tenant_id: stranger.tenant.id }]);
    });
  });

  /** The command line with the login of the running processes alone. */
  const command = async (...given: string[]) => {
    const settings = { DATABASE_URL: loginUrl, SECRET_KEY: secret.toString('base64') };
    const { code, output } = await runDurabill(settings, ...given);
    return { code, output };
  };

  it('suffices for the command that lists and passes over ranges that cannot be rated', async () => {
    const { id } = stranger.tenant;
    const { platform } = instance.platform.database;
    const consumers = await platform('usageConsumer').where({ tenantId: id }).orderBy('partition');
    const { partition, nextOffset } = (consumers[0] ?? { partition: 0, nextOffset: '0' }) as {
      readonly partition: number;
      readonly nextOffset: string;
    };
    const from = Number(nextOffset);
    // The log ends where rating stands: nothing was accepted that could be passed over.
    const range = ['--from', String(from), '--end', String(from + 2), '--reason', 'a hole'];
    const skip = ['usage-range', 'skip', id, String(partition), ...range];
    expect(await command(...skip)).to.deep.equal({ code: 1, output: '' });
    // As where the log is in Kafka, which this command does not ask.
    await platform('brokerPartition').where({ tenantId: id, partition }).delete();
    expect(await command(...skip)).to.deep.equal({ code: 0, output: 'passed over 2 offsets\n' });
    const { output } = await command('usage-range', 'list', '--tenant', id);
    expect(output).to.match(
      new RegExp(`^${id}\t${partition}\t${from} to ${from + 1}\t\\S+Z\ta hole\n$`),
    );
    expect((await command(...skip)).code).to.equal(1);
    const others = await command('usage-range', 'list', '--tenant', owner.tenant.id);
    expect(others).to.deep.equal({ code: 0, output: '' });
  });

  it('adds security events, and none of another tenant', async () => {
    const event = { actor: 'x', entity: 'accessKey', entityKey: 'k', action: 'revoke' } as const;
    const { read } = stranger.tenant.scope.db;
    await recordSecurityEvent(read, { ...event, tenantId: stranger.tenant.id });
    const refused = recordSecurityEvent(read, { ...event, tenantId: owner.tenant.id });
    expect(await codeOf(refused)).to.equal('42501');
  });

  // spec/beyond.md R472
  it('makes and revokes keys of the tenant that it has entered, and of no others', async () => {
    const make = `select make_access_key('0000000000000001', 'x', null, '{ADMIN}', 'x', null,
      now(), 'x', 'x', null, 100) as is`;
    const revoke = `select revoke_access_key($1, 'x', 'x', null) as is`;
    const { body } = await owner.tenant
      .post('/v1/access-keys', { name: 'Theirs', roles: ['READER'] })
      .expect(201);
    await asLogin(async (client) => {
      for (const entered of ['*', '']) {
        await client.query(`select set_config('app.tenant_id', $1, false)`, [entered]);
        expect(await codeOf(client.query(make))).to.equal('42501');
        expect(await codeOf(client.query(revoke, [body.id]))).to.equal('42501');
      }
      await client.query(`select set_config('app.tenant_id', $1, false)`, [stranger.tenant.id]);
      expect((await client.query(revoke, [body.id])).rows).to.deep.equal([{ is: false }]);
    });
    const [listed] = (await owner.tenant.get('/v1/access-keys?limit=1').expect(200)).body.data;
    expect(listed).to.include({ id: body.id, status: 'valid' });
  });

  it('is warned of where it may do anything, and told what to do', async () => {
    const lines: string[] = [];
    const log = {
      warn: (_details: unknown, text?: string) => lines.push(text ?? String(_details)),
    };
    const open = async (url: string): Promise<void> => {
      const database: Database = openDatabase(url, 2, { log: log as never });
      await database.ping();
      await database.close();
    };
    await open(loginUrl);
    expect(lines).to.deep.equal([]);
    await open(instance.databaseUrl);
    expect(lines.join(' ')).to.include('DATABASE_OWNER_URL');
  });

  it('starts on a database that is ready, and says who may make it so', async () => {
    const urls = { owner: undefined, login: loginUrl };
    expect(await prepareDatabase(urls, { box })).to.deep.equal([]);
    await asOwner(instance.databaseUrl, (client) =>
      client.query('delete from knex_migrations where id = (select max(id) from knex_migrations)'),
    );
    const failure = await prepareDatabase(urls, { box }).catch((error: Error) => error.message);
    expect(failure).to.include("run 'durabill migrate' with DATABASE_OWNER_URL first");
  });
});
