import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { runDurabill, settingsOf } from '../support/servers/command-line.js';
import type pg from 'pg';
import { recordSecurityEvent } from '../../src/access/security-events.js';
import { verifyAuditChain } from '../../src/queries/access/audit-chain.js';
import { external, openTestInstance, type TestInstance } from '../support/servers/instance.js';
import { keepFor, removeAllAged } from '../support/ageing.js';
import { asOwner } from '../support/servers/rows.js';
import { buildWorld, type World } from '../support/http/world.js';

describe('the chain of the audit', function () {
  this.timeout(120_000);
  let instance: TestInstance;
  let world: World;
  before(async () => {
    instance = await openTestInstance({ withWorkers: true });
    world = await buildWorld(await instance.tenant());
  });
  after(() => instance.close());

  const owner = <T>(work: (client: pg.Client) => Promise<T>): Promise<T> =>
    asOwner(instance.databaseUrl, work);
  const counts = async (tenantId: string): Promise<{ entries: number; seals: number }> =>
    owner(async (client) => {
      const { rows } = await client.query<{ entries: number; seals: number }>(
        `select (select count(*)::int from audit where tenant_id = $1) as entries,
           (select count(*)::int from audit_seal where tenant_id = $1) as seals`,
        [tenantId],
      );
      return rows[0] ?? { entries: -1, seals: -2 };
    });
  const untilSealed = async (tenantId: string): Promise<number> => {
    const since = performance.now();
    for (;;) {
      const { entries, seals } = await counts(tenantId);
      if (entries === seals) return performance.now() - since;
      if (performance.now() - since > 20_000) throw new Error(`${entries - seals} without seals`);
      await wait(50);
    }
  };
  const verify = (tenantId: string) => {
    const trail = { actor: 'x', requestId: 'x' };
    return verifyAuditChain(instance.platform.database.forTenant(tenantId, trail).read, tenantId);
  };
  const codeOf = (work: PromiseLike<unknown>): Promise<string | undefined> =>
    Promise.resolve(work).then(
      () => undefined,
      (error: { code?: string }) => error.code,
    );

  it('holds every entry soon, of writers side by side, in one order', async () => {
    const paths = Array.from({ length: 12 }, (_, index) => ({ billingDay: 1 + index }));
    const path = `${external}/accounts/${world.params['accountId']}`;
    await Promise.all(paths.map((body) => world.tenant.put(path, body).expect(200)));
    await untilSealed(world.tenant.id);
    const { entries, fault, head } = await verify(world.tenant.id);
    expect([entries, fault]).to.deep.equal([(await counts(world.tenant.id)).entries, null]);
    expect(entries).to.be.greaterThan(20);
    expect(head).to.match(/^[0-9a-f]{64}$/);
  });

  it('waits for nobody: an entry of a long transaction comes later, and is not forgotten', async () => {
    const path = `${external}/accounts/${world.params['accountId']}`;
    await owner(async (client) => {
      await client.query('begin');
      await client.query(`update service set label = 'long' where id = $1`, [
        world.params['serviceId'],
      ]);
      await world.tenant.put(path, { billingDay: 20 }).expect(200);
      await untilSealed(world.tenant.id);
      // Later looks go past the entry that is still open.
      await wait(1_500);
      await world.tenant.put(path, { billingDay: 21 }).expect(200);
      await untilSealed(world.tenant.id);
      await client.query('commit');
    });
    const { entries } = await counts(world.tenant.id);
    await untilSealed(world.tenant.id);
    expect(await verify(world.tenant.id)).to.deep.include({ entries, fault: null });
  });

  it('has one for events that belong to no tenant', async () => {
    const before = await verify('*');
    await recordSecurityEvent(instance.platform.database.platform, {
      tenantId: null,
      actor: null,
      entity: 'signIn',
      entityKey: null,
      action: 'refuse',
    });
    await untilSealed('*');
    const after = await verify('*');
    expect(after.fault).to.equal(null);
    // Other tests register clients meanwhile, which belong to no tenant either.
    expect(after.entries).to.be.greaterThan(before.entries);
  });

  it('cannot be changed by the application', async () => {
    const { read } = world.tenant.scope.db;
    const planted = { tenantId: world.tenant.id, entity: 'account', action: 'create' };
    const seal = { tenantId: world.tenant.id, position: 0, auditId: 0 };
    for (const work of [
      read('audit').update({ actor: 'somebody else' }),
      read('audit').delete(),
      read.raw('truncate audit'),
      read('audit').insert(planted),
      read('auditSeal').update({ position: 7 }),
      read('auditSeal').delete(),
      read('auditSeal').insert({ ...seal, previousHash: Buffer.alloc(32), hash: Buffer.alloc(32) }),
      read.raw('truncate audit_seal'),
      read.raw('update audit_sealing set sealed_to = 1000000'),
      read.raw('alter table audit disable trigger all'),
    ]) {
      expect(await codeOf(work)).to.equal('42501');
    }
    // Neither does the owner by mistake.
    await owner(async (client) => {
      for (const sql of [
        'delete from audit',
        'truncate audit',
        'update audit_seal set position = 1',
      ])
        expect(await codeOf(client.query(sql)), sql).to.equal('42501');
    });
  });

  /** As somebody who may do everything with the server. */
  const tamper = (sql: string, tenantId: string): Promise<unknown> =>
    owner(async (client) => {
      await client.query('set session_replication_role = replica');
      return client.query(sql, [tenantId]);
    });
  const place = 'where tenant_id = $1 and position = 2';
  const entry = `where tenant_id = $1 and id = (select audit_id from audit_seal ${place})`;

  for (const [what, sql, fault] of [
    [
      'an entry that was changed',
      `update audit set actor = 'nobody' ${entry}`,
      /: it was changed$/,
    ],
    ['an entry that was removed', `delete from audit ${entry}`, /position 2: it is missing$/],
    [
      'a seal that was removed',
      `delete from audit_seal ${place}`,
      /seal at position 2 is missing$/,
    ],
    [
      'a seal that was changed',
      `update audit_seal set previous_hash = sha256('x') ${place}`,
      /position 2: it does not follow the entry before it$/,
    ],
  ] as const) {
    it(`tells of ${what}`, async () => {
      const tenant = await instance.tenant();
      for (const label of ['a', 'b', 'c']) {
        const action = 'create';
        await recordSecurityEvent(tenant.scope.db.read, {
          tenantId: tenant.id,
          actor: 'x',
          entity: 'accessKey',
          entityKey: label,
          action,
        });
      }
      await untilSealed(tenant.id);
      expect((await verify(tenant.id)).fault).to.equal(null);
      await tamper(sql, tenant.id);
      const found = await verify(tenant.id);
      expect(found.fault).to.match(fault);
      expect(found.entries).to.equal(1);
    });
  }

  describe('whose oldest part retention has removed', () => {
    const ages = [500, 450, 401, 3, 420, 2, 1];
    const age = async (days: number) => {
      const tenant = await instance.tenant();
      await owner((client) =>
        client.query(
          `insert into audit (tenant_id, at, entity, action)
           select $1, now() - days * interval '1 day', 'access_key', 'create'
           from unnest($2::int[]) with ordinality as each (days, number) order by number`,
          [tenant.id, ages],
        ),
      );
      await untilSealed(tenant.id);
      await keepFor(instance, tenant, 'audit', days);
      return tenant;
    };

    it('fits from there on, and goes on', async () => {
      const tenant = await age(400);
      const before = await verify(tenant.id);
      // Up to the first that is too young: the fifth stays, because the fourth does.
      expect(await removeAllAged(tenant, 'audit', 0)).to.equal(3);
      await untilSealed(tenant.id);
      const after = await verify(tenant.id);
      // Four are left, and the entry that says what went.
      expect(after).to.include({ removed: 3, entries: 5, fault: null });
      expect(after.head).not.to.equal(before.head);
      const [cut] = (await tenant.get('/v1/audit?entity=audit').expect(200)).body.data as {
        action: string;
        actor: string;
        after: object;
      }[];
      expect(cut).to.deep.include({ action: 'delete', actor: 'retention' });
      expect(cut?.after).to.deep.include({ upToPosition: 3, days: 400 });
      expect(await removeAllAged(tenant, 'audit', 0)).to.equal(0);
      await keepFor(instance, tenant, 'audit', 1);
      // The newest entry stays in any case, and what is younger than a day.
      expect(await removeAllAged(tenant, 'audit', 0)).to.be.within(3, 4);
      await untilSealed(tenant.id);
      expect(await verify(tenant.id)).to.include({ fault: null });
      const run = await runDurabill(settingsOf(instance), 'audit', 'verify', '--tenant', tenant.id);
      expect(run.output).to.match(/\d entries after \d that retention has removed\tfit, head/);
    });

    it('keeps what does not fit, so that it is seen', async () => {
      const tenant = await age(400);
      await tamper(`update audit set actor = 'nobody' ${entry}`, tenant.id);
      expect(await removeAllAged(tenant, 'audit', 0)).to.equal(1);
      await untilSealed(tenant.id);
      expect((await verify(tenant.id)).fault).to.match(/position 2: it was changed$/);
    });

    it('cannot be cut by anybody else', async () => {
      const tenant = await age(400);
      await removeAllAged(tenant, 'audit', 0);
      await tamper(`update audit_cut set hash = sha256('x') where tenant_id = $1`, tenant.id);
      expect((await verify(tenant.id)).fault).to.match(/has not recorded that it was cut at/);
      const { read } = tenant.scope.db;
      await read.raw(`select set_config('app.ageing', 'on', false)`);
      for (const sql of ['delete from audit', 'delete from audit_cut', 'delete from audit_seal']) {
        expect(await codeOf(read.raw(sql))).to.equal('42501');
      }
      await owner(async (client) => {
        await client.query(`select set_config('app.ageing', 'on', false)`);
        const sql = 'delete from audit where tenant_id = $1';
        expect(await codeOf(client.query(sql, [tenant.id]))).to.equal('42501');
      });
      const other = await instance.tenant();
      const foreign = read.raw('select age_audit(?, 10)', [other.id]);
      expect(await codeOf(foreign)).to.equal('42501');
    });
  });

  it('is checked by a command, which tells of entries without a seal, too', async () => {
    const idle = await openTestInstance();
    const tenant = await idle.tenant();
    const run = () => runDurabill(settingsOf(idle), 'audit', 'verify', '--tenant', tenant.id);
    const { code, output } = await run();
    expect(code).to.equal(0);
    expect(output).to.match(new RegExp(`^${tenant.id}\t0 entries\tfit, head [0-9a-f]{64}\n$`));
    await asOwner(idle.databaseUrl, (client) =>
      client.query(
        `insert into audit (tenant_id, at, entity, action)
         values ($1, now() - interval '2 minutes', 'access_key', 'create')`,
        [tenant.id],
      ),
    );
    const failed = await run();
    expect(failed.code).to.equal(1);
    expect(failed.output).to.include('has no seal for more than a minute');
    expect(failed.errors).to.include('does not fit');
    await idle.close();
  });
});
