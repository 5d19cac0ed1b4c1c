import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { workflowIdOf } from '../support/servers/histories.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

/** What its operation declares: what of it the tests need, they know. */
type Body = ReturnType<typeof JSON.parse>;

const definitionOf = (name: string, tasks: object[]): object => ({
  definition: {
    document: { dsl: '1.0.0', namespace: 'test', name, version: '1.0.0' },
    do: tasks,
  },
});

describe("tenants' workflows that somebody ends in Temporal", () => {
  const instance = useInstance({ withWorkers: true });
  const tenant = useTenant(instance);

  const begin = async (name: string): Promise<string> => {
    const path = `/v1/workflows/${name}`;
    const { body } = await tenant.post(`${path}/execute`, { data: {}, async: true }).expect(200);
    return `${path}/executions/${body.executionId}`;
  };
  const until = async (path: string, isRight: (body: Body) => boolean): Promise<Body> => {
    for (;;) {
      const { body } = await tenant.get(path).expect(200);
      if (isRight(body)) return body;
      await pause(50);
    }
  };

  // spec/beyond.md R392, R344
  it('show so here, with what they waited for closed, and can be deleted', async () => {
    const ask = {
      call: 'durabill.approval',
      with: { title: 'Go on?', details: {}, timeout: 'PT1H', onTimeout: 'fail' },
    };
    await tenant.post('/v1/workflows', definitionOf('ended', [{ ask }])).expect(201);
    const path = await begin('ended');
    const pending = '/v1/approvals?kind=workflow&status=pending';
    const { data } = await until(pending, (body) => body.data.length > 0);
    const place = await workflowIdOf(tenant, path.split('/').at(-1) ?? '');
    await instance.platform.temporal.waiter.workflow.getHandle(place).terminate('by hand');
    const ended = await until(path, ({ status }) => status !== 'running');
    expect(ended).to.include({ status: 'terminated', workflowName: 'ended' });
    const { body } = await tenant.get(`/v1/approvals/${data[0].id}`).expect(200);
    expect(body.status).to.equal('canceled');
    await tenant.delete('/v1/workflows/ended').expect(204);
  });
});
