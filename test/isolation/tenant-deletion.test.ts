import { expect } from 'chai';
import { deleteTenant } from '../../src/access/tenant-deletion.js';
import { asOwner, listTables } from '../support/servers/rows.js';
import { buildWorld } from '../support/http/world.js';
import { useInstance } from '../support/servers/use-instance.js';

/** What is sealed, and added up behind rating, goes on meanwhile. */
const sealed = {
  retention_state: 0,
  audit_seal: 0,
  usage_change: 0,
  usage_list: 0,
  usage_total: 0,
  usage_unlisted: 0,
};

describe('a tenant that is deleted', function () {
  // Two tenants have something of everything.
  this.timeout(120_000);
  const instance = useInstance({ withWorkers: true });

  const rowsOf = (tenantId: string): Promise<Record<string, number>> =>
    asOwner(instance.databaseUrl, async (client) => {
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

  it('leaves its audit alone, and other tenants all that they have', async () => {
    const { tenant } = await buildWorld(await instance.tenant());
    const other = await buildWorld(await instance.tenant());
    const before = await rowsOf(tenant.id);
    expect(before).to.include.keys('account', 'usage_event', 'rated_transaction', 'invoice');
    const others = await rowsOf(other.tenant.id);
    const trail = { actor: 'command-line', requestId: 'deletion' };
    const db = instance.platform.database.forTenant(tenant.id, trail, 'batch');
    expect(await deleteTenant(db, 'command-line')).to.equal(true);
    const after = await rowsOf(tenant.id);
    expect(Object.keys(after).filter((name) => !/^audit(_seal)?$/.test(name))).to.deep.equal([]);
    expect({ ...(await rowsOf(other.tenant.id)), ...sealed }).to.deep.equal({
      ...others,
      ...sealed,
    });
    const audit = await asOwner(instance.databaseUrl, (client) =>
      client.query<{ entity: string; action: string }>(
        'select entity, action from audit where tenant_id = $1 order by id',
        [tenant.id],
      ),
    );
    expect(audit.rows.at(-1)).to.deep.equal({ entity: 'tenant', action: 'delete' });
    expect(await deleteTenant(db, 'command-line')).to.equal(false);
  });
});
