import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { readOutEvents } from '../../src/activities/workflows/listener.js';
import { WorkflowListeners } from '../../src/models/workflows/listener.js';
import { afterEachActivity } from '../support/servers/activities.js';
import { makeRecordType } from '../support/billing/records.js';
import { openReceiver } from '../support/servers/receiver.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

/** What its operation declares: what of it the tests need, they know. */
type Body = ReturnType<typeof JSON.parse>;

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

describe("tenants' workflows: events", () => {
  let failures = 0;
  const instance = useInstance({
    withWorkers: true,
    activityInterceptors: afterEachActivity(
      () => {
        if (failures === 0) return;
        failures -= 1;
        throw new Error('The worker dies after its step.');
      },
      'emitEvent',
      'openListener',
      'lookAtListener',
    ),
  });
  const tenant = useTenant(instance, { forEachTest: true });
  let count = 0;

  const define = async (tasks: object[], more: object = {}): Promise<string> => {
    count += 1;
    const name = `event-${count}`;
    const document = { dsl: '1.0.0', namespace: 'test', name, version: '1.0.0' };
    await tenant
      .post('/v1/workflows', { definition: { document, do: tasks, ...more } })
      .expect(201);
    return name;
  };
  const begin = async (name: string, data: object = {}): Promise<string> => {
    const start = { data, async: true };
    const { body } = await tenant.post(`/v1/workflows/${name}/execute`, start).expect(200);
    return `/v1/workflows/${name}/executions/${body.executionId}`;
  };
  const until = async <Found>(look: () => Promise<Found | undefined>): Promise<Found> => {
    for (const end = Date.now() + 20_000; Date.now() < end; await pause(50)) {
      const found = await look();
      if (found !== undefined) return found;
    }
    throw new Error('It did not happen in time.');
  };
  const ended = (execution: string): Promise<Body> =>
    until(async () => {
      const { body } = await tenant.get(execution).expect(200);
      return body.status === 'running' ? undefined : body;
    });
  const rows = async (table: string): Promise<number> => {
    const { platform } = instance.platform.database;
    return Number((await platform(table).where({ tenant_id: tenant.id }).count())[0]?.['count']);
  };
  const listening = (many: number): Promise<true> =>
    until(async () => ((await rows('workflow_listener')) === many ? true : undefined));
  const emit = (type: string, data: object = {}) => ({ emit: { event: { with: { type, data } } } });
  const listen = (filter: object, more: object = {}) => ({
    hear: { listen: { to: { one: { with: filter } }, ...more } },
  });
  /** Emits events by a workflow of its own, one after the other. */
  const send = async (...events: [string, object][]): Promise<void> => {
    const tasks = events.map(([type, data], index) => ({ [`e${index}`]: emit(type, data) }));
    expect((await ended(await begin(await define(tasks)))).status).to.equal('completed');
  };

  // spec/beyond.md R348
  it('are sent to webhooks and start workflows, once for each run of a task', async () => {
    const receiver = await openReceiver();
    const hook = { url: receiver.url, events: ['custom.signed', 'invoice.paid'], secret };
    await tenant.post('/v1/webhooks', hook).expect(201);
    const schedule = { on: { one: { with: { type: 'custom.signed', data: '${ data.n > 1 }' } } } };
    const started = await define([{ keep: { set: { of: '${ input }' } } }], { schedule });
    const loop = {
      each: {
        for: { each: 'n', in: '${ input.list }' },
        do: [{ say: emit('custom.signed', { n: '${ n }', of: '${ workflow.id }' }) }],
      },
    };
    failures = 2;
    const { status, executionId, output } = await ended(
      await begin(await define([loop]), { list: [1, 2, 3] }),
    );
    expect(status).to.equal('completed');
    // What the task was given goes on.
    expect(output).to.deep.equal({ list: [1, 2, 3] });
    const received = await receiver.until(({ length }) => length >= 3);
    const executions = await until(async () => {
      const { body } = await tenant.get(`/v1/workflows/${started}/executions`).expect(200);
      return body.data.length === 2 ? body.data : undefined;
    });
    expect(executions.map(({ input }: Body) => input.n).sort()).to.deep.equal([2, 3]);
    await receiver.close();
    expect(received.map(({ payload }) => [payload.event, payload.data])).to.deep.equal(
      [1, 2, 3].map((n) => ['custom.signed', { n, of: executionId }]),
    );
  });

  // spec/beyond.md R349
  it('are waited for, by kind and condition, from the moment on at which a task listens', async () => {
    await send(['custom.signed', { by: 'acme', n: 0 }]);
    const filter = { type: 'custom.signed', data: '${ data.by == input.name && data.n > 1 }' };
    const name = await define([listen(filter), { done: { set: { heard: '${ input }' } } }]);
    const execution = await begin(name, { name: 'acme', more: 'x' });
    await listening(1);
    failures = 1;
    await send(
      ['custom.signed', { by: 'other', n: 5 }],
      ['custom.signed', { by: 'acme', n: 1 }],
      ['custom.other', { by: 'acme', n: 5 }],
      ['custom.signed', { by: 'acme', n: 2 }],
      ['custom.signed', { by: 'acme', n: 3 }],
    );
    const { output, status } = await ended(execution);
    expect(status).to.equal('completed');
    expect(output).to.deep.equal({ heard: [{ by: 'acme', n: 2 }] });
    // Nothing of it is kept.
    expect(await rows('workflow_listener')).to.equal(0);
    // What came after it is taken away by whoever reads it.
    await until(async () => ((await rows('workflow_event')) === 0 ? true : undefined));
  });

  // spec/beyond.md R410
  it('for which a condition cannot be evaluated are not heard, and the tenant sees why', async () => {
    const name = await define([listen({ type: 'custom.signed', data: '${ data.none == 1 }' })]);
    const execution = await begin(name);
    await listening(1);
    await send(['custom.signed', { n: 1 }]);
    const fault = await until(async () => {
      const { body } = await tenant.get(`/v1/workflows/${name}`).expect(200);
      return body.conditionFault ?? undefined;
    });
    const executionId = execution.slice(execution.lastIndexOf('/') + 1);
    expect(fault).to.deep.include({ version: 1, event: 'custom.signed', executionId });
    expect(fault.reason).to.match(/No such key: none/);
    expect((await tenant.get(execution).expect(200)).body.status).to.equal('running');
  });

  // spec/beyond.md R349
  it('of records are heard, one of several kinds, with its kind and time', async () => {
    const { path } = await makeRecordType(tenant);
    const to = {
      any: [
        { with: { type: 'custom.never' } },
        { with: { type: 'mdata.created', data: '${ data.data.n == 2 }' } },
      ],
    };
    const execution = await begin(await define([{ hear: { listen: { to, read: 'envelope' } } }]));
    await listening(1);
    for (const n of [1, 2]) await tenant.post(path, { data: { n } }).expect(201);
    const { output } = await ended(execution);
    expect(output).to.have.length(1);
    expect(output[0].type).to.equal('mdata.created');
    expect(Date.parse(output[0].time)).to.be.above(Date.now() - 60_000);
    expect(output[0].data.data).to.deep.equal({ n: 2 });
  });

  // spec/beyond.md R349
  it('that do not come fail a task with status 408, which can be caught', async () => {
    const waiting = listen({ type: 'custom.never' }, { timeout: { milliseconds: 200 } });
    const failed = await ended(await begin(await define([waiting])));
    expect(failed.error.details.error).to.include({ status: 408 });
    const caught = {
      t: {
        try: [waiting],
        catch: { errors: { with: { status: 408 } }, do: [{ no: { set: { late: true } } }] },
      },
    };
    expect((await ended(await begin(await define([caught])))).output).to.deep.equal({ late: true });
    expect(await rows('workflow_listener')).to.equal(0);
  });

  // spec/beyond.md R349
  it('are listened to no longer when an execution ends, or a branch has lost', async () => {
    const execution = await begin(await define([listen({ type: 'custom.never' })]));
    await listening(1);
    await tenant.post(`${execution}/cancel`).expect(200);
    expect((await ended(execution)).status).to.equal('canceled');
    await listening(0);
    const race = {
      race: {
        fork: {
          compete: true,
          branches: [listen({ type: 'custom.never' }), { w: { wait: { milliseconds: 300 } } }],
        },
      },
    };
    const second = await begin(await define([race, { w: { wait: 'PT1H' } }]));
    await listening(1);
    await listening(0);
    await tenant.post(`${second}/cancel`).expect(200);
  });

  // spec/beyond.md R348, R349
  it('of other names than custom, and conditions on what there is not, are faults', async () => {
    const faultsOf = async (task: object): Promise<string[]> => {
      const document = { dsl: '1.0.0', namespace: 'test', name: 'faulty', version: '1.0.0' };
      const { body } = await tenant
        .post('/v1/workflows/validate', { definition: { document, do: [{ t: task }] } })
        .expect(200);
      return body.faults.map(({ pointer }: Body) => pointer);
    };
    const place = '/do/0/t';
    expect(await faultsOf(emit('invoice.paid'))).to.deep.equal([`${place}/emit/event/with/type`]);
    expect(await faultsOf(emit('custom.Big'))).to.deep.equal([`${place}/emit/event/with/type`]);
    for (const type of ['invoice.payed', 'usage.rated']) {
      expect(await faultsOf(listen({ type }).hear)).to.deep.equal([
        `${place}/listen/to/one/with/type`,
      ]);
    }
    expect(
      await faultsOf(listen({ type: 'invoice.paid', data: '${ data.id == nothing }' }).hear),
    ).to.deep.equal([`${place}/listen/to/one/with/data`]);
    const hook = { url: 'https://example.com', events: ['custom.Big'], secret };
    await tenant.post('/v1/webhooks', hook).expect(400);
  });

  // spec/beyond.md R346
  it('come and go in a dry run as its results say', async () => {
    const name = await define([
      { say: emit('custom.asked', { id: '${ input.id }' }) },
      listen({ type: 'custom.answered' }, { timeout: 'P2D' }),
    ]);
    const path = `/v1/workflows/${name}/simulate`;
    const results = { hear: { output: { yes: true } } };
    const heard = (await tenant.post(path, { input: { id: 7 }, results }).expect(200)).body;
    expect(heard.output).to.deep.equal([{ yes: true }]);
    expect(heard.calls.map(({ call }: Body) => call)).to.deep.equal(['emit', 'listen']);
    expect(heard.calls[0].with).to.deep.equal({ type: 'custom.asked', data: { id: 7 } });
    const late = (await tenant.post(path, { input: { id: 7 } }).expect(200)).body;
    expect(late.error.status).to.equal(408);
    // Two days.
    expect(Date.parse(late.endedAt) - Date.parse(late.startedAt)).to.equal(172_800_000);
  });
});

// spec/beyond.md R410
describe('events that cannot be read out', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  it('take away nothing of what was said of conditions before them', async () => {
    const document = { dsl: '1.0.0', namespace: 'test', name: 'hears', version: '1.0.0' };
    const definition = { document, do: [{ done: { set: { n: 1 } } }] };
    const { body } = await tenant.post('/v1/workflows', { definition }).expect(201);
    const { home } = instance.platform.database;
    const executionId = randomUUID();
    const kinds = ['custom.signed', 'custom.broken'] as const;
    await home.platform.transaction(async (trx) => {
      const filters = kinds.map((type) => ({ type, data: '${ data.none == 1 }' }));
      const workflowId = `${tenant.id}/workflow/${body.id}/${executionId}`;
      const listener = { workflowId, filters, variables: {}, at: new Date() };
      await WorkflowListeners.open(trx, tenant.id, { executionId, seq: 1 }, listener);
    });
    for (const [index, text] of ['{"data": {}}', 'no JSON'].entries()) {
      await home.platform.raw(
        `insert into workflow_event (tenant_id, id, event, body, created_at)
         values (?, gen_random_uuid(), ?, ?, now())`,
        [tenant.id, kinds[index] ?? '', text],
      );
    }
    const failure = await readOutEvents(instance.platform, home).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).to.be.an('error');
    const { conditionFault } = (await tenant.get('/v1/workflows/hears').expect(200)).body;
    expect(conditionFault).to.deep.include({ event: 'custom.signed', executionId });
  });
});
