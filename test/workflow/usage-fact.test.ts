import { expect } from 'chai';
import { factPartsSql } from '../../src/models/usage/usage-fact.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';
import { fillTenant } from '../support/servers/fill.js';
import { asOwner } from '../support/servers/rows.js';

/** What is read of the facts where statistics are older than they, as after a large import. */
describe('usage facts as totals and audits read them', function () {
  this.timeout(180_000);
  const instance = useInstance();
  const tenant = useTenant(instance);

  // spec/beyond.md R234
  it('cost as much for each event, however many charges statistics know nothing of', async () => {
    await asOwner(instance.databaseUrl, async (client) => {
      // Nobody analyzes meanwhile: that would make the plan another one.
      const { rows: parts } = await client.query<{ name: string }>(
        `select relid::regclass::text as name from unnest(array['usage_event', 'rated_transaction']) as own
         cross join lateral pg_partition_tree(own::regclass) where isleaf`,
      );
      for (const { name } of parts) {
        await client.query(`alter table ${name} set (autovacuum_enabled = off)`);
      }
      // So many that the planner would rather join them all, of which it expects few to be the tenant's.
      const [events, asked] = [20_000, 200];
      await fillTenant(client, { tenantId: tenant.id, accounts: 10, events, services: 1 });
      const sql = `with event as materialized (
          select id, event_at, null::jsonb as dimensions from usage_event where tenant_id = $1 and status = 'rated' limit ${asked}
        ), ${factPartsSql.replaceAll(':tenantId', '$1')} select count(*), sum(amount) from part`;
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
        `explain (analyze, buffers, timing off, format json) ${sql}`,
        [tenant.id],
      );
      const [plan] = rows[0]?.['QUERY PLAN'] ?? [];
      const blocks =
        (plan?.Plan['Shared Hit Blocks'] ?? 0) + (plan?.Plan['Shared Read Blocks'] ?? 0);
      // Each is found by its key, and the next one after it: some blocks of an index, and one of the table.
      expect(blocks / asked).to.be.within(1, 40);
    });
  });
});
