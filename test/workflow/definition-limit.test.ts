import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { setTenantPlan } from '../../src/access/tenants.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

/** Requests a minute of the tenant, and calls of one execution. */
const limit = 5;

describe("tenants' workflows: requests a minute", () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);

  const attempts = async (executionId: string): Promise<number> => {
    const { rows } = await tenant.scope.db.read.raw<{ rows: { attempts: number }[] }>(
      `select max(attempts) as attempts from workflow_task
       where tenant_id = ? and execution_id = ? and kind = 'call'`,
      [tenant.id, executionId],
    );
    return rows[0]?.attempts ?? 0;
  };

  // spec/beyond.md R407
  it('are those of its clients: calls of its workflows are counted apart, and wait above as many', async () => {
    await setTenantPlan(instance.platform.database.platform, tenant.id, 'enterprise', limit);
    const look = { call: 'durabill.operation', with: { operationId: 'listWorkflows' } };
    const definition = {
      document: { dsl: '1.0.0', namespace: 'test', name: 'busy', version: '1.0.0' },
      do: [{ loop: { for: { in: '${ input.list }' }, do: [{ look }] } }],
    };
    const path = '/v1/workflows';
    await tenant.post(path, { definition }).expect(201);
    const list = Array.from({ length: limit }, (_each, index) => index);
    const run = await tenant.post(`${path}/busy/execute`, { data: { list } }).expect(200);
    expect(run.body.status).to.equal('completed');
    const shown = await tenant.get(`${path}/busy`).expect(200);
    // Three requests, none of them a call of the workflow.
    expect(shown.headers['x-ratelimit-remaining']).to.equal(String(limit - 3));
    const data = { list: [1] };
    const next = await tenant.post(`${path}/busy/execute`, { data, async: true }).expect(200);
    const { executionId } = next.body;
    while ((await attempts(executionId)) < 2) await pause(50);
    expect(next.headers['x-ratelimit-remaining']).to.equal(String(limit - 4));
    const stopped = await tenant.post(`${path}/busy/executions/${executionId}/cancel`).expect(200);
    expect(stopped.body.status).to.be.oneOf(['running', 'canceled']);
  });
});
