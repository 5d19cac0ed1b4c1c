import { expect } from 'chai';
import { createAccount } from '../support/billing/usage.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

/** What its operation declares: what of it the tests need, they know. */
type Body = ReturnType<typeof JSON.parse>;

const definitionOf = (name: string, n: number) => ({
  definition: {
    document: { dsl: '1.0.0', namespace: 'test', name, version: '1.0.0' },
    do: [{ only: { set: { n } } }],
  },
});

describe("tenants' workflows: what is known of executions", () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  const execute = async (name: string, data: object = {}): Promise<Body> =>
    (await tenant.post(`/v1/workflows/${name}/execute`, { data }).expect(200)).body;

  // spec/beyond.md R403
  it('says which version each kept to, in the timeline, too', async () => {
    await tenant.post('/v1/workflows', definitionOf('versions', 1)).expect(201);
    const first = await execute('versions');
    await tenant.put('/v1/workflows/versions', definitionOf('versions', 2)).expect(200);
    const second = await execute('versions');
    expect([first, second].map(({ workflowVersion }) => workflowVersion)).to.deep.equal([1, 2]);
    const path = '/v1/workflows/versions/executions';
    const { data } = (await tenant.get(path).expect(200)).body;
    expect(data.map((each: Body) => [each.executionId, each.workflowVersion])).to.deep.equal([
      [second.executionId, 2],
      [first.executionId, 1],
    ]);
    for (const { executionId, workflowVersion } of [first, second]) {
      const timeline = (await tenant.get(`${path}/${executionId}/timeline`).expect(200)).body;
      expect(timeline.data).to.have.length(1);
      expect(timeline.data[0]).to.include({ name: 'only', workflowVersion });
    }
    await createAccount(tenant, 'acme');
    const builtIn = await execute('account-edit', { id: 'acme', net_term: 'Net 30' });
    expect(builtIn).to.include({ workflowName: 'account-edit', workflowVersion: null });
  });

  // spec/beyond.md R404
  it('stays when their workflow is deleted: by its id, and by its name until another has it', async () => {
    const { id } = (await tenant.post('/v1/workflows', definitionOf('gone', 1)).expect(201)).body;
    const { executionId } = await execute('gone');
    await tenant.delete('/v1/workflows/gone').expect(204);
    await tenant.get('/v1/workflows/gone').expect(404);
    await tenant.post('/v1/workflows/gone/execute', { data: {} }).expect(404);
    const known = { executionId, workflowId: id, workflowName: 'gone', workflowVersion: 1 };
    const look = async (key: string): Promise<void> => {
      const path = `/v1/workflows/${key}/executions`;
      const { data } = (await tenant.get(path).expect(200)).body;
      expect(data).to.have.length(1);
      expect(data[0]).to.include(known);
      expect((await tenant.get(`${path}/${executionId}`).expect(200)).body).to.include(known);
      const timeline = (await tenant.get(`${path}/${executionId}/timeline`).expect(200)).body;
      expect(timeline.data[0]).to.include({ name: 'only', workflowVersion: 1 });
    };
    await look('gone');
    await look(id);
    await tenant.post('/v1/workflows', definitionOf('gone', 2)).expect(201);
    const path = '/v1/workflows/gone/executions';
    expect((await tenant.get(path).expect(200)).body.data).to.deep.equal([]);
    await tenant.get(`${path}/${executionId}`).expect(404);
    await look(id);
    // Of two that were deleted the name is that of the later one.
    const later = await execute('gone');
    await tenant.delete('/v1/workflows/gone').expect(204);
    const { data } = (await tenant.get(path).expect(200)).body;
    expect(data.map((each: Body) => each.executionId)).to.deep.equal([later.executionId]);
    await (await instance.tenant()).get(`/v1/workflows/${id}/executions`).expect(404);
  });
});
