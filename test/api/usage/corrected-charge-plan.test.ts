import { expect } from 'chai';
import { newId } from '../../../src/kernel/id.js';
import { allStatements } from '../../support/servers/instance.js';
import { asOwner } from '../../support/servers/rows.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const pairs = 30_000;

/** The charges of one event among those of a large correction. */
describe('charges of a correction, of one event', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  // spec/beyond.md R206
  it('are found by an index, however many others the correction has', async () => {
    const [correctionId, eventId] = [newId(), newId()];
    await asOwner(instance.databaseUrl, async (client) => {
      await client.query(
        `insert into usage_correction (tenant_id, id, kind, reason, actor, execution_id, scope, events,
           changed, rejected, before, after, accounts, created_at)
         values ($1, $2, 'rerate', 'Wrong price.', 'ada', $2, '{}', $3, $3, '[]', '[]', '[]', '[]', now())`,
        [tenant.id, correctionId, pairs],
      );
      await client.query(
        `insert into usage_correction_charge (tenant_id, correction_id, position, event_id, before_id)
         select $1, $2::uuid, n, case n when 20000 then $3::uuid else gen_random_uuid() end,
           gen_random_uuid()
         from generate_series(1, ${pairs}) as n`,
        [tenant.id, correctionId, eventId],
      );
      await client.query('analyze usage_correction_charge');
    });
    const read = allStatements(tenant.scope);
    const statements: { sql: string; bindings: unknown[] }[] = [];
    const note = ({ sql, bindings }: { sql: string; bindings: unknown[] }) =>
      statements.push({ sql, bindings });
    read.on('query', note);
    const { body } = await tenant
      .get(`/v1/corrections/${correctionId}/charges?eventId=${eventId}`)
      .expect(200);
    read.off('query', note);
    expect(body.pagination).to.include({ total: 1 });
    const asked = statements.filter(({ sql }) => sql.includes('from usage_correction_charge'));
    // Its events, its charges, and how many they are.
    expect(asked).to.have.length(3);
    for (const { sql, bindings } of asked) {
      const { rows } = await read.raw<{ rows: { 'QUERY PLAN': string }[] }>(
        `explain (analyze, timing off) ${sql.replace(/\$\d+/g, '?')}`,
        bindings as string[],
      );
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).to.include('usage_correction_charge_event');
      expect(plan).to.not.include('Rows Removed by Filter');
    }
  });
});
