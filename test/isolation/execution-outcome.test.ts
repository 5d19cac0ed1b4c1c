import { expect } from 'chai';
import { newId } from '../../src/kernel/id.js';
import { findFlowOutcome, findFlowOutcomes } from '../../src/queries/flows/execution.js';
import { asOwner, rowsRead } from '../support/servers/rows.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

const executions = 20_000;

/** Executions of a tenant that has many, whom row-level security binds. */
describe('how executions ended', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  const ids = Array.from({ length: 100 }, newId);

  before(() =>
    asOwner(instance.databaseUrl, async (client) => {
      await client.query(
        `insert into execution (tenant_id, id, run_id, workflow, workflow_id, actor, request_id, status,
           input, output, started_at, completed_at)
         select $1, coalesce(($2::uuid[])[n], gen_random_uuid()), 'run', 'editAccount', 'w' || n, 'ada',
           'r', 'completed', '{}', '{"n": 1}', now(), now()
         from generate_series(1, ${executions}) as n`,
        [tenant.id, ids],
      );
      await client.query('analyze execution');
    }),
  );

  const read = (work: (scope: typeof tenant.scope) => Promise<void>): Promise<number> => {
    const { scope } = tenant;
    return scope.db.transaction(async (trx) => {
      const before = await rowsRead(trx, 'execution');
      await work({ ...scope, db: { ...scope.db, read: trx } });
      return (await rowsRead(trx, 'execution')) - before;
    });
  };

  // spec/flows.md R33
  it('is found by the key of one', async () => {
    const count = await read(async (scope) => {
      expect(await findFlowOutcome(scope, ids[7] ?? '')).to.deep.include({ ok: true });
      expect(await findFlowOutcome(scope, newId())).to.equal(undefined);
    });
    expect(count).to.equal(1);
  });

  // spec/flows.md R39
  it('is found by the keys of the items of a batch, up to so many bytes', async () => {
    const unknown = newId();
    const count = await read(async (scope) => {
      const asked = [...ids.slice(0, 50), unknown, ...ids.slice(50)];
      const outcomes = await findFlowOutcomes(scope, asked, 16);
      expect([...outcomes.keys()]).to.deep.equal(ids);
      const told = [...outcomes.values()].filter((one) => one.ok && one.output !== null);
      // Each has eight bytes.
      expect(told).to.have.length(2);
    });
    expect(count).to.equal(100);
  });
});
