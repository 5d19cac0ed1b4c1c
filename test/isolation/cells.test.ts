import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import type { CellServer } from '../../src/process/platform.js';
import { listRetention } from '../../src/activities/ageing/retention.js';
import { removeAged } from '../../src/commands/ageing/remove-aged.js';
import { placeLegalHold } from '../../src/models/access/legal-hold.js';
import { setRetention } from '../../src/models/access/retention-rule.js';
import { deleteTenant } from '../../src/access/tenant-deletion.js';
import { recordSecurityEvent } from '../../src/access/security-events.js';
import { external, openTestInstance, type TestInstance } from '../support/servers/instance.js';
import { createTestCell } from '../support/servers/cells.js';
import { asOwner, listTables } from '../support/servers/rows.js';
import { buildWorld } from '../support/http/world.js';

/** What the platform itself has in the home database, whatever cell a tenant is in. */
const platformTables = new Set([
  'access_key',
  'access_key_use',
  'oauth_code',
  'oauth_grant',
  'oauth_refresh_token',
  'relayed_event',
  'tenant_cell',
  'token_revocation',
]);

/** spec/platform.md R120 to R122. */
describe('tenants in two cells', function () {
  this.timeout(120_000);
  let cell: CellServer;
  let instance: TestInstance;
  before(async () => {
    cell = await createTestCell('eu1');
    instance = await openTestInstance({ withWorkers: true, cells: [cell] });
  });
  after(() => instance.close());

  const rowsOf = (databaseUrl: string, tenantId: string): Promise<Record<string, number>> =>
    asOwner(databaseUrl, async (client) => {
      const tables = (await listTables(client)).filter(({ hasTenant }) => hasTenant);
      const found: [string, number][] = [];
      for (const { name } of tables) {
        const { rows } = await client.query<{ count: number }>(
          `select count(*)::int as count from ${name} where tenant_id = $1`,
          [tenantId],
        );
        const count = rows[0]?.count ?? 0;
        if (count > 0) found.push([name, count]);
      }
      return Object.fromEntries(found);
    });

  const until = async (isSo: () => Promise<boolean>): Promise<void> => {
    for (const deadline = Date.now() + 20_000; !(await isSo()); await wait(100)) {
      if (Date.now() > deadline) throw new Error('It does not come.');
    }
  };

  it('have all their rows in their own: accounts, usage, totals, flows, invoices', async () => {
    const there = await buildWorld(await instance.tenant(['ADMIN'], undefined, 'eu1'));
    const here = await buildWorld(await instance.tenant());
    const rows = await rowsOf(cell.url, there.tenant.id);
    expect(rows).to.include.keys('account', 'usage_event', 'rated_transaction', 'invoice', 'audit');
    const atHome = Object.keys(await rowsOf(instance.databaseUrl, there.tenant.id));
    expect(atHome.filter((name) => !platformTables.has(name))).to.deep.equal([]);
    expect(await rowsOf(cell.url, here.tenant.id)).to.deep.equal({});
    // What one does the other cannot see, and each sees its own.
    const { body } = await there.tenant.get(`${external}/accounts`).expect(200);
    const ids = (body as { data: { content: { Id: string }[] } }).data.content.map(({ Id }) => Id);
    expect(ids).to.not.deep.equal([]);
    for (const id of ids) await here.tenant.get(`${external}/accounts/${id}`).expect(404);
  });

  it('hear of their security events in their own audit, once and with their time', async () => {
    const tenant = await instance.tenant(['ADMIN'], undefined, 'eu1');
    const before = new Date();
    await recordSecurityEvent(instance.platform.database.platform, {
      tenantId: tenant.id,
      actor: 'command-line',
      entity: 'accessKey',
      entityKey: 'key-1',
      action: 'create',
      details: { name: 'first' },
    });
    const entries = async () => {
      const { body } = await tenant.get('/v1/audit?entity=accessKey').expect(200);
      return (body as { data: { entityKey: string; at: string; after: object }[] }).data;
    };
    await until(async () => (await entries()).length > 0);
    const [entry] = await entries();
    expect(entry?.entityKey).to.equal('key-1');
    expect(entry?.after).to.deep.equal({ name: 'first' });
    expect(Date.parse(entry?.at ?? '')).to.be.within(before.getTime() - 1, Date.now());
    await until(
      async () => (await rowsOf(instance.databaseUrl, tenant.id))['relayed_event'] === undefined,
    );
    expect((await entries()).length).to.equal(1);
    await until(async () => ((await rowsOf(cell.url, tenant.id))['audit_seal'] ?? 0) > 0);
  });

  // spec/platform.md R100, R103
  it('age there by the rules of their cell and the defaults of the installation, or are held', async () => {
    const tenant = await instance.tenant(['ADMIN'], undefined, 'eu1');
    const { database } = instance.platform;
    const days = async () => {
      const { body } = await tenant.get('/v1/retention').expect(200);
      const { rules } = body as { rules: { kind: string; days: number | null }[] };
      return rules.find(({ kind }) => kind === 'executions')?.days;
    };
    const isDue = async () => {
      const due = await listRetention(instance.platform);
      return due.some(({ tenantId, kind }) => tenantId === tenant.id && kind === 'executions');
    };
    await setRetention(database.platform, '*', 'executions', 400);
    await until(async () => (await days()) === 400);
    expect(await isDue()).to.equal(true);
    await setRetention(database.platform, '*', 'executions', undefined);
    await until(async () => (await days()) === null);
    const { platform } = await database.cellOf(tenant.id);
    await setRetention(platform, tenant.id, 'executions', 30);
    expect([await days(), await isDue()]).to.deep.equal([30, true]);
    const hold = { tenantId: tenant.id, reason: 'a case', placedBy: 'us', placedAt: new Date() };
    await platform.transaction((trx) => placeLegalHold(trx, hold));
    expect(await isDue()).to.equal(false);
    const portion = await removeAged(
      { ...tenant.scope, now: () => new Date(Date.now() + 31 * 86_400_000) },
      'executions',
      null,
    );
    expect(portion).to.deep.equal({ removed: 0, isLast: true });
  });

  it('are suspended in their cell, too, so that their webhooks rest', async () => {
    const { id } = await instance.tenant(['ADMIN'], undefined, 'eu1');
    const isSuspended = () =>
      asOwner(cell.url, async (client) => {
        const { rows } = await client.query<{ suspended: boolean }>(
          'select suspended_at is not null as suspended from tenant where id = $1',
          [id],
        );
        return rows[0]?.suspended ?? false;
      });
    await asOwner(instance.databaseUrl, (client) =>
      client.query('update tenant set suspended_at = now() where id = $1', [id]),
    );
    await until(isSuspended);
    await asOwner(instance.databaseUrl, (client) =>
      client.query('update tenant set suspended_at = null where id = $1', [id]),
    );
    await until(async () => !(await isSuspended()));
  });

  it('have what they revoke at home, and see it', async () => {
    const tenant = await instance.tenant(['ADMIN'], undefined, 'eu1');
    const jti = '0198c0de-0000-7000-8000-000000000001';
    await tenant.post(`/v1/tokens/${jti}/revoke`).expect(200);
    const { body } = await tenant.get('/v1/tokens/revocations').expect(200);
    expect((body as { data: { jti: string }[] }).data.map((each) => each.jti)).to.deep.equal([jti]);
    expect(await rowsOf(instance.databaseUrl, tenant.id)).to.include.keys('token_revocation');
    expect(await rowsOf(cell.url, tenant.id)).to.not.include.keys('token_revocation');
  });

  it('leave nothing but their audit in both databases when they are deleted', async () => {
    const { tenant } = await buildWorld(await instance.tenant(['ADMIN'], undefined, 'eu1'));
    const trail = { actor: 'command-line', requestId: 'deletion' };
    const { database } = instance.platform;
    const there = await database.cellOf(tenant.id);
    expect(there.name).to.equal('eu1');
    expect(await deleteTenant(there.forTenant(tenant.id, trail), 'command-line')).to.equal(true);
    expect(await deleteTenant(database.home.forTenant(tenant.id, trail), 'command-line')).to.equal(
      true,
    );
    const left = [cell.url, instance.databaseUrl].map((url) => rowsOf(url, tenant.id));
    for (const rows of await Promise.all(left)) {
      expect(Object.keys(rows).filter((name) => !/^audit(_seal)?$/.test(name))).to.deep.equal([]);
    }
  });
});
