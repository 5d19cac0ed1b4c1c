import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import request from 'supertest';
import { accessKeyId, createAccessKey } from '../../src/access/access-keys.js';
import { external } from '../support/servers/instance.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

/** What its operation declares: what of it the tests need, they know. */
type Body = ReturnType<typeof JSON.parse>;

describe("tenants' workflows: approvals", () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  let count = 0;

  const define = async (tasks: object[], by = tenant): Promise<string> => {
    count += 1;
    const document = { dsl: '1.0.0', namespace: 'test', name: `ask-${count}`, version: '1.0.0' };
    await by.post('/v1/workflows', { definition: { document, do: tasks } }).expect(201);
    return `ask-${count}`;
  };
  const ask = (changes: object = {}, more: object = {}) => ({
    ask: {
      call: 'durabill.approval',
      with: {
        title: '${ "Credit for " + input.name }',
        details: { before: { limit: 1 }, after: { limit: '${ input.limit }' } },
        timeout: 'PT1H',
        onTimeout: 'reject',
        ...changes,
      },
      ...more,
    },
  });
  const data = { name: 'Acme', limit: 5 };
  /** Starts an execution, and gives its address. */
  const begin = async (name: string, by = tenant): Promise<string> => {
    const { body } = await by
      .post(`/v1/workflows/${name}/execute`, { data, async: true })
      .expect(200);
    return `/v1/workflows/${name}/executions/${body.executionId}`;
  };
  const until = async <Found>(look: () => Promise<Found | undefined>): Promise<Found> => {
    for (const since = Date.now(); Date.now() - since < 20_000; await pause(50)) {
      const found = await look();
      if (found !== undefined) return found;
    }
    throw new Error('It did not happen in time.');
  };
  const asked = (execution: string): Promise<Body> =>
    until(async () => {
      const { body } = await tenant.get('/v1/approvals?kind=workflow&limit=100').expect(200);
      const id = execution.split('/').at(-1);
      return body.data.find((each: Body) => each.execution.executionId === id);
    });
  const ended = (execution: string): Promise<Body> =>
    until(async () => {
      const { body } = await tenant.get(execution).expect(200);
      return body.status === 'running' ? undefined : body;
    });
  const decide = (id: string, decision: string, by = tenant, more: object = {}) =>
    by.post(`/v1/approvals/${id}`, { decision, ...more });

  // spec/beyond.md R341, R343
  it('wait until somebody approves, and tell who did', async () => {
    const name = await define([
      ask(),
      { go: { set: { by: '${ input.decisions[0].decidedBy }' } } },
    ]);
    const execution = await begin(name);
    const approval = await asked(execution);
    expect(approval).to.deep.include({
      status: 'pending',
      title: 'Credit for Acme',
      before: { limit: 1 },
      after: { limit: 5 },
      roles: ['OPERATOR', 'ADMIN'],
      quorum: 1,
    });
    expect(approval.execution).to.deep.include({
      workflowName: name,
      task: '/do/0/ask',
      startedBy: 'tester',
    });
    await decide(approval.id, 'approve', tenant, { reason: 'Known.' }).expect(200);
    const { status, output } = await ended(execution);
    expect(status).to.equal('completed');
    expect(output).to.deep.equal({ by: 'tester' });
    const { body } = await tenant.get(`${execution}/timeline`).expect(200);
    const [first, second] = body.data;
    expect(first.approval).to.deep.include({ id: approval.id, status: 'approved' });
    expect(first.approval.decisions[0]).to.include({
      decision: 'approve',
      decidedBy: 'tester',
      reason: 'Known.',
    });
    expect(first.output).to.deep.include({ approvalId: approval.id, status: 'approved' });
    expect(second.approval).to.equal(null);
  });

  // spec/beyond.md R342
  it('fail with status 403 when rejected, which can be caught, and undo what they did', async () => {
    const made = {
      made: {
        call: 'durabill.operation',
        with: { operationId: 'createAccount', body: { name: 'Made', externalId: 'made' } },
        'durabill.undo': {
          call: 'durabill.operation',
          with: { operationId: 'deleteAccount', parameters: { accountId: '${ output.id }' } },
        },
      },
    };
    const first = await begin(await define([made, ask({ title: 'Go on?', details: {} })]));
    await decide((await asked(first)).id, 'reject', tenant, { reason: 'Too much.' }).expect(200);
    const { status, error } = await ended(first);
    expect(status).to.equal('failed');
    expect(error).to.include({ status: 403 });
    expect(error.message).to.contain('Rejected by tester: Too much.');
    expect(error.details.undone).to.deep.equal(['/do/0/made']);
    await tenant.get(`${external}/accounts/made?isExternal=true`).expect(404);
    const caught = {
      t: {
        try: [ask()],
        catch: {
          errors: { with: { status: 403 } },
          do: [{ no: { set: { why: '${ error.detail }' } } }],
        },
      },
    };
    const second = await begin(await define([caught]));
    await decide((await asked(second)).id, 'reject').expect(200);
    expect((await ended(second)).output).to.deep.equal({ why: 'Rejected by tester' });
  });

  // spec/beyond.md R342
  for (const [onTimeout, expected] of [
    ['reject', { status: 'failed', code: 403 }],
    ['fail', { status: 'failed', code: 408 }],
    ['approve', { status: 'completed', code: undefined }],
  ] as const) {
    it(`end when nobody decides in time: ${onTimeout}`, async () => {
      const name = await define([ask({ timeout: { milliseconds: 300 }, onTimeout })]);
      const execution = await begin(name);
      const { status, error, output } = await ended(execution);
      expect(status).to.equal(expected.status);
      expect(error?.details.error.status).to.equal(expected.code);
      if (onTimeout === 'approve') expect(output).to.deep.include({ status: 'expired' });
      const { id, status: ofApproval } = await asked(execution);
      expect(ofApproval).to.equal('expired');
      await decide(id, 'approve').expect(409);
    });
  }

  // spec/beyond.md R352
  it('count one of two decisions at the same moment', async () => {
    const execution = await begin(await define([ask()]));
    const { id } = await asked(execution);
    const answers = await Promise.all([decide(id, 'approve'), decide(id, 'reject')]);
    expect(answers.map((answer) => answer.status).sort()).to.deep.equal([200, 409]);
    const isApproved = answers[0]?.status === 200;
    expect((await ended(execution)).status).to.equal(isApproved ? 'completed' : 'failed');
    expect((await asked(execution)).decisions).to.have.length(1);
  });

  // spec/beyond.md R353, R354
  it('go on when enough different people approved', async () => {
    const other = await instance.tenant(['OPERATOR'], tenant.id);
    const key = async (roles: string[]) =>
      createAccessKey(instance.platform.database.platform, {
        tenantId: tenant.id,
        orgId: null,
        roles,
        name: 'approver',
      });
    const byKey = (secret: string, id: string) =>
      request(instance.url)
        .post(`/v1/approvals/${id}`)
        .set('Authorization', `Bearer ${secret}`)
        .send({ decision: 'approve' });
    const name = await define([ask({ quorum: 2, roles: ['OPERATOR'], notStarter: true })]);
    const execution = await begin(name);
    const { id } = await asked(execution);
    // ADMIN alone is not OPERATOR, and started it.
    await decide(id, 'approve').expect(403);
    // Who started it may not approve it with another role either.
    await decide(id, 'approve', other).expect(403);
    const [ann, bob] = [await key(['OPERATOR']), await key(['OPERATOR'])];
    expect((await byKey(ann, id)).status).to.equal(200);
    expect((await byKey(ann, id)).status).to.equal(409);
    // A role that is taken away while it waits decides nothing more.
    const roles = instance.platform.database.platform('accessKey').where({ id: accessKeyId(bob) });
    await roles.update({ roles: ['READER'] });
    expect((await byKey(bob, id)).status).to.equal(403);
    expect((await asked(execution)).status).to.equal('pending');
    expect((await byKey(await key(['OPERATOR']), id)).status).to.equal(200);
    const { output } = await ended(execution);
    expect(output.decisions).to.have.length(2);
  });

  // spec/beyond.md R353
  it('know who started a workflow that calls another', async () => {
    const inner = await define([ask({ notStarter: true })]);
    // Somebody else publishes what calls it.
    const key = await createAccessKey(instance.platform.database.platform, {
      tenantId: tenant.id,
      orgId: null,
      roles: ['ADMIN'],
      name: 'publisher',
    });
    const document = { dsl: '1.0.0', namespace: 'test', name: 'outer', version: '1.0.0' };
    const call = {
      call: 'durabill.operation',
      with: {
        operationId: 'executeWorkflow',
        parameters: { workflowId: inner },
        body: { data, async: true },
      },
    };
    const definition = { document, do: [{ call }] };
    const published = await request(instance.url)
      .post('/v1/workflows')
      .set('Authorization', `Bearer ${key}`)
      .send({ definition });
    expect(published.status).to.equal(201);
    const { output } = await ended(await begin('outer'));
    const approval = await asked(`/v1/workflows/${inner}/executions/${output.executionId}`);
    expect(approval.execution.startedBy).to.equal('tester');
    await decide(approval.id, 'approve').expect(403);
    await decide(approval.id, 'reject').expect(200);
  });

  // spec/beyond.md R345
  it('know who started a workflow whose event, or end, starts another', async () => {
    for (const type of ['custom.wanted', 'workflow.completed']) {
      const isEmitted = type === 'custom.wanted';
      const emit = { event: { with: { type, data } } };
      const first = await define([{ first: isEmitted ? { emit } : { set: { a: 1 } } }]);
      const { id } = (await tenant.get(`/v1/workflows/${first}`).expect(200)).body;
      const condition = isEmitted ? 'true' : `data.workflowId == "${id}"`;
      count += 1;
      const document = { dsl: '1.0.0', namespace: 'test', name: `ask-${count}`, version: '1.0.0' };
      const on = { one: { with: { type, data: `\${ ${condition} }` } } };
      const title = { title: `After ${first}`, details: {}, notStarter: true };
      const definition = { document, schedule: { on }, do: [ask(title)] };
      await tenant.post('/v1/workflows', { definition }).expect(201);
      await begin(first);
      const approval = await until(async () => {
        const { body } = await tenant.get('/v1/approvals?kind=workflow&limit=100').expect(200);
        return body.data.find((one: Body) => one.title === `After ${first}`);
      });
      expect(approval.execution.startedBy).to.equal('tester');
      await decide(approval.id, 'approve').expect(403);
      await decide(approval.id, 'reject').expect(200);
    }
  });

  // spec/beyond.md R344
  it('are closed with their execution, and with a branch that lost', async () => {
    const execution = await begin(await define([ask()]));
    const { id } = await asked(execution);
    const other = await instance.tenant();
    await decide(id, 'approve', other).expect(404);
    await tenant.post(`${execution}/cancel`).expect(200);
    expect((await ended(execution)).status).to.equal('canceled');
    expect((await asked(execution)).status).to.equal('canceled');
    await decide(id, 'approve').expect(409);
    const race = { race: { fork: { compete: true, branches: [ask(), { w: { wait: 'PT1S' } }] } } };
    const second = await begin(await define([race, { w: { wait: 'PT1H' } }]));
    await asked(second);
    await until(async () => ((await asked(second)).status === 'canceled' ? true : undefined));
    await tenant.post(`${second}/cancel`).expect(200);
  });

  // spec/beyond.md R345
  it('are refused when saved with what nobody can decide, and decide none themselves', async () => {
    const faultsOf = async (task: object): Promise<string[]> => {
      const document = { dsl: '1.0.0', namespace: 'test', name: 'faulty', version: '1.0.0' };
      const { body } = await tenant
        .post('/v1/workflows/validate', { definition: { document, do: [task] } })
        .expect(200);
      return body.faults.map(({ pointer }: Body) => pointer);
    };
    const place = '/do/0/ask/with';
    expect(await faultsOf(ask({ roles: ['BOSS', 'ADMIN', 'READER'] }))).to.deep.equal([
      `${place}/roles/0`,
      `${place}/roles/2`,
    ]);
    expect(await faultsOf(ask({ timeout: 'P32D', quorum: 0 }))).to.deep.equal([
      `${place}/quorum`,
      `${place}/timeout`,
    ]);
    const undo = ask().ask;
    const made = { ...ask({}, { 'durabill.undo': { call: undo.call, with: undo.with } }) };
    expect(await faultsOf(made)).to.deep.equal(['/do/0/ask/durabill.undo/call']);
    const operation = (operationId: string, more: object) => ({
      d: { call: 'durabill.operation', with: { operationId, ...more } },
    });
    const parameters = { approvalId: '${ input.id }' };
    const body = { decision: 'approve' };
    // Answers are in the timeline: those that show a secret are for people, too.
    const refused: readonly [string, object][] = [
      ['decideApproval', { parameters, body }],
      ['rotateWebhookSecret', { parameters: { webhookId: '${ input.id }' }, body: {} }],
      ['createEmbed', { body: { accountId: '${ input.id }' } }],
    ];
    for (const [id, more] of refused) {
      expect(await faultsOf(operation(id, more)), id).to.deep.equal(['/do/0/d/with/operationId']);
    }
  });

  // spec/beyond.md R341
  it('fail where what expressions make of it is too much', async () => {
    const long = await define([ask({ details: '${ { "all": input.list } }' })]);
    const list = Array.from({ length: 6_000 }, () => 'abcdefgh');
    const { body } = await tenant
      .post(`/v1/workflows/${long}/execute`, { data: { ...data, list } })
      .expect(200);
    expect(body.error.details.error).to.include({ status: 400 });
    const untitled = await define([ask({ title: '${ input.limit }' })]);
    const { body: second } = await tenant
      .post(`/v1/workflows/${untitled}/execute`, { data })
      .expect(200);
    expect(second.error.message).to.contain('title');
  });
});
