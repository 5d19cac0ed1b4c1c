import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

const definitionOf = (name: string) => ({
  definition: {
    document: { dsl: '1.0.0', namespace: 'test', name, version: '1.0.0' },
    do: [{ rest: { wait: 'PT1H' } }],
  },
});
const start = { data: {}, async: true };

// spec/beyond.md R321
describe("tenants' workflows that are deleted while they are started", () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);

  const until = async <Found>(look: () => Promise<Found | undefined>): Promise<Found> => {
    for (const end = Date.now() + 20_000; Date.now() < end; await pause(20)) {
      const found = await look();
      if (found !== undefined) return found;
    }
    throw new Error('It did not happen in time.');
  };
  /** The executions of a workflow in the database. */
  const executionsOf = async (id: string) => {
    const { rows } = await tenant.scope.db.read.raw<{
      rows: { id: string; status: string; error: { message: string } | null }[];
    }>('select id, status, error from execution where tenant_id = ? and workflow = ?', [
      tenant.id,
      `runDefinition/${id}`,
    ]);
    return rows;
  };
  const ended = (id: string) =>
    until(async () => {
      const [first, ...others] = await executionsOf(id);
      expect(others).to.deep.equal([]);
      return first === undefined || first.status === 'running' ? undefined : first;
    });

  it('are either kept, and run, or gone, and what was started does nothing', async () => {
    for (let count = 0; count < 12; count += 1) {
      const name = `race${count}`;
      const { body } = await tenant.post('/v1/workflows', definitionOf(name)).expect(201);
      const [executed, deleted] = await Promise.all([
        tenant.post(`/v1/workflows/${name}/execute`, start),
        tenant.delete(`/v1/workflows/${name}`),
      ]);
      expect(deleted.status).to.be.oneOf([204, 409]);
      if (deleted.status === 409) {
        expect(executed.status).to.equal(200);
        const path = `/v1/workflows/${name}/executions/${executed.body.executionId}`;
        await tenant.get(path).expect(200);
        await tenant.delete(`/v1/workflows/${name}?force=true`).expect(204);
        expect(await ended(body.id)).to.include({ status: 'canceled' });
      } else if (executed.status === 200) {
        // It was started, and has found its workflow gone.
        expect(await ended(body.id)).to.include({ status: 'failed' });
      } else expect(executed.status).to.equal(404);
    }
  });

  it('are gone for what was started and has not begun: it fails, and is not answered as running', async () => {
    const { body } = await tenant.post('/v1/workflows', definitionOf('late')).expect(201);
    const { platform } = instance.platform.database.home;
    const executed = await tenant.scope.db.transaction(async (deletion) => {
      await deletion.raw('select from workflow_definition where id = ? for update', [body.id]);
      const answer = tenant.post('/v1/workflows/late/execute', start).then((each) => each);
      // Its record waits for whoever deletes the workflow.
      await until(async () => {
        const { rows } = await platform.raw<{ rows: object[] }>(
          `select from pg_locks where locktype = 'transactionid' and not granted`,
        );
        return rows.length > 0 ? true : undefined;
      });
      expect(await executionsOf(body.id)).to.deep.equal([]);
      await deletion.raw('update workflow_definition set deleted_at = now() where id = ?', [
        body.id,
      ]);
      return { answer };
    });
    const { status, body: answer } = await executed.answer;
    if (status === 200) expect(answer.status).to.equal('failed');
    else expect(status).to.equal(404);
    const { error, ...execution } = await ended(body.id);
    expect(execution.status).to.equal('failed');
    expect(error?.message).to.contain(`There is no workflow '${body.id}'`);
  });
});
