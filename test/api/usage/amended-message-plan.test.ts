import { expect } from 'chai';
import { newId } from '../../../src/kernel/id.js';
import { isAsSentSql } from '../../../src/models/usage/event-message.js';
import { sqlRows } from '../../../src/models/db/sql-rows.js';
import { allStatements } from '../../support/servers/instance.js';
import { asOwner } from '../../support/servers/rows.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const dismissed = 30_000;

/** Events with other content, among many that were dismissed. */
describe('contents that events were amended with', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  // spec/beyond.md R490
  it('are found by an index, however many events were dismissed', async () => {
    await asOwner(instance.databaseUrl, async (client) => {
      await client.query(
        `insert into usage_event_change (tenant_id, event_id, number, id, changed_at, change,
           change_reason, message, partition, "offset", status, run_id, processed_at)
         select $1, gen_random_uuid(), 1, gen_random_uuid(), now(), 'cancel', 'Sent by a test.', null,
           0, n, 'rejected', $2, now()
         from generate_series(1, ${dismissed}) as n`,
        [tenant.id, newId()],
      );
      await client.query('analyze usage_event_change');
    });
    const lines = await sqlRows<{ 'QUERY PLAN': string }>(
      allStatements(tenant.scope),
      `explain (analyze, timing off) select ${isAsSentSql('event')} as as_sent
       from usage_event as event where event.tenant_id = :tenantId`,
      { tenantId: tenant.id },
    );
    const plan = lines.map((line) => line['QUERY PLAN']).join('\n');
    expect(plan).to.include('usage_event_change_message');
    expect(plan).to.not.include('Rows Removed by Filter');
  });
});
