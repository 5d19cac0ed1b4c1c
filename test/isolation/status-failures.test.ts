import { expect } from 'chai';
import { getStatus } from '../../src/queries/access/status.js';
import { asOwner, rowsRead } from '../support/servers/rows.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

const refused = 20_000;

/** A tenant whose previews were refused so often, and of which one execution failed. */
describe('what failed of a tenant', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  before(() =>
    asOwner(instance.databaseUrl, async (client) => {
      await client.query(
        `insert into execution (tenant_id, id, run_id, workflow, workflow_id, actor, request_id, status,
           input, error, started_at, completed_at)
         select $1, gen_random_uuid(), 'run', 'amendUsageEvent', 'w' || n, 'ada', 'r', 'failed',
           jsonb_build_object('dryRun', n > 0), '{"kind": "validation", "message": "No."}', now(), now()
         from generate_series(0, ${refused}) as n`,
        [tenant.id],
      );
      await client.query('analyze execution');
    }),
  );

  // spec/beyond.md R578
  it('is read without one of the previews that were refused', async () => {
    const { scope } = tenant;
    const { count, executions } = await scope.db.transaction(async (trx) => {
      const before = await rowsRead(trx, 'execution');
      const status = await getStatus({ ...scope, db: { ...scope.db, read: trx } }, null);
      return { count: (await rowsRead(trx, 'execution')) - before, ...status };
    });
    expect(executions).to.deep.include({ failed: 1 });
    expect(executions.failures).to.have.length(1);
    // Once as a count, and once as itself.
    expect(count).to.equal(2);
  });
});
