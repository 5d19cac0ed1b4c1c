import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { json, openServer } from '../support/servers/elsewhere.js';
import { workflowIdOf } from '../support/servers/histories.js';
import { external } from '../support/servers/instance.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

/** What its operation declares: what of it the tests need, they know. */
type Body = ReturnType<typeof JSON.parse>;

const definitionOf = (name: string, tasks: object[]): object => ({
  definition: {
    document: { dsl: '1.0.0', namespace: 'test', name, version: '1.0.0' },
    do: tasks,
  },
});

describe("tenants' workflows that end, and what they leave", () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
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
  it('in Temporal, by hand, show so here, close what they waited for, and can be deleted', async () => {
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

  // spec/beyond.md R321
  it('keep to the version that they began with, whatever is published meanwhile', async () => {
    const version = (n: number): object =>
      definitionOf('versions', [{ rest: { wait: 'PT1S' } }, { give: { set: { version: n } } }]);
    await tenant.post('/v1/workflows', version(1)).expect(201);
    const path = await begin('versions');
    const { body } = await tenant.put('/v1/workflows/versions', version(2)).expect(200);
    expect(body.version).to.equal(2);
    const later = await begin('versions');
    const ended = ({ status }: Body): boolean => status !== 'running';
    expect((await until(path, ended)).output).to.deep.equal({ version: 1 });
    expect((await until(later, ended)).output).to.deep.equal({ version: 2 });
  });

  // spec/beyond.md R321, R332
  it('are canceled and take back what they did when their workflow is deleted by force', async () => {
    const made = {
      call: 'durabill.operation',
      with: { operationId: 'createAccount', body: { name: 'Forced', externalId: 'forced' } },
      'durabill.undo': {
        call: 'durabill.operation',
        with: { operationId: 'deleteAccount', parameters: { accountId: '${ output.id }' } },
      },
    };
    const tasks = [{ made }, { rest: { wait: 'PT1H' } }];
    await tenant.post('/v1/workflows', definitionOf('forced', tasks)).expect(201);
    const path = await begin('forced');
    await until(`${path}/timeline`, ({ data }) => data.length === 2);
    await tenant.delete('/v1/workflows/forced').expect(409);
    await tenant.delete('/v1/workflows/forced?force=true').expect(204);
    await tenant.get('/v1/workflows/forced').expect(404);
    // Its executions can be read as before.
    const { status } = await until(path, (found) => found.status !== 'running');
    expect(status).to.equal('canceled');
    await tenant.get(`${external}/accounts/forced?isExternal=true`).expect(404);
    // Its name is free again.
    await tenant.post('/v1/workflows', definitionOf('forced', tasks)).expect(201);
  });

  // spec/beyond.md R332
  it('take back also the call that is under way when they are canceled', async () => {
    const server = await openServer();
    try {
      const call = (method: string) => ({ call: 'http', with: { method, endpoint: server.url } });
      const made = { ...call('POST'), 'durabill.undo': call('DELETE') };
      const never = { set: { never: true } };
      await tenant.post('/v1/workflows', definitionOf('late', [{ made }, { never }])).expect(201);
      let answer = (): void => undefined;
      const isAsked = new Promise<void>((resolve) => {
        server.answer = (asked, response) => {
          if (asked.method === 'DELETE') json(null)(asked, response);
          else {
            answer = () => json({ id: 1 })(asked, response);
            resolve();
          }
        };
      });
      const path = await begin('late');
      await isAsked;
      await tenant.post(`${path}/cancel`).expect(200);
      answer();
      const ended = await until(path, ({ status }) => status !== 'running');
      expect(ended.status).to.equal('canceled');
      expect(server.asked.map(({ method }) => method)).to.deep.equal(['POST', 'DELETE']);
      const { data } = (await tenant.get(`${path}/timeline`).expect(200)).body;
      expect(data[0]).to.include({ name: 'made', status: 'completed' });
      expect(data[0].undoneAt).to.be.a('string');
    } finally {
      server.close();
    }
  });

  // spec/beyond.md R332
  it('go on with what the winner of a fork has put into the context, though its loser is waited for', async () => {
    const server = await openServer();
    try {
      const call = (method: string) => ({
        call: 'http',
        with: { method, endpoint: server.url },
        export: { as: { by: method } },
      });
      const branches = [{ slow: call('POST') }, { fast: call('GET') }];
      const tasks = [
        { race: { fork: { compete: true, branches } } },
        { after: { set: { by: '${ context.by }' } } },
      ];
      await tenant.post('/v1/workflows', definitionOf('race', tasks)).expect(201);
      let [answerFast, answerSlow] = [(): void => undefined, (): void => undefined];
      server.answer = (asked, response) => {
        const answer = (): void => json({ id: 1 })(asked, response);
        if (asked.method === 'POST') answerSlow = answer;
        else answerFast = answer;
      };
      const path = await begin('race');
      while (server.asked.length < 2) await pause(20);
      answerFast();
      const { workflow } = instance.platform.temporal.waiter;
      const handle = workflow.getHandle(await workflowIdOf(tenant, path.split('/').at(-1) ?? ''));
      const isToEnd = async (): Promise<boolean> =>
        ((await handle.fetchHistory()).events ?? []).some(
          (event) => event.activityTaskCancelRequestedEventAttributes,
        );
      while (!(await isToEnd())) await pause(20);
      answerSlow();
      const ended = await until(path, ({ status }) => status !== 'running');
      expect(ended.output).to.deep.equal({ by: 'GET' });
    } finally {
      server.close();
    }
  });
});
