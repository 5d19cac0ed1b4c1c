import { expect } from 'chai';
import { DryHost, DryRunStopped } from '../../../src/flows/workflows/dry-host.js';
import { WorkflowTask } from '../../../src/models/workflows/task.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

/** What its operation declares: what of it the tests need, they know. */
type Body = ReturnType<typeof JSON.parse>;

describe("tenants' workflows: dry runs", () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  let count = 0;

  const simulate = async (tasks: object[], body: object = {}): Promise<Body> => {
    count += 1;
    const document = { dsl: '1.0.0', namespace: 'test', name: `dry-${count}`, version: '1.0.0' };
    const definition = { document, do: tasks };
    await tenant.post('/v1/workflows', { definition }).expect(201);
    return (await tenant.post(`/v1/workflows/dry-${count}/simulate`, body).expect(200)).body;
  };
  const make = {
    make: {
      call: 'durabill.operation',
      with: { operationId: 'createAccount', body: { name: '${ input.name }' } },
      'durabill.undo': {
        call: 'durabill.operation',
        with: { operationId: 'deleteAccount', parameters: { accountId: '${ output.id }' } },
      },
    },
  };
  const ask = {
    ask: {
      call: 'durabill.approval',
      with: { title: 'Go on?', timeout: 'P2D', onTimeout: 'reject' },
    },
  };
  const wait = { rest: { wait: 'P3D' } };
  const done = { done: { set: { id: '${ input.id }' } } };
  const results = { make: { output: { id: 'a-1' } }, '/do/0/make': { output: { id: 'a-2' } } };

  // spec/beyond.md R346
  it('show what would be called and done, and when', async () => {
    const run = await simulate([make, wait, done], { input: { name: 'Acme' }, results });
    expect(run).to.deep.include({ status: 'completed', output: { id: 'a-2' }, error: null });
    expect(run.calls).to.deep.equal([
      {
        seq: 1,
        path: '/do/0/make',
        call: 'durabill.operation',
        with: { operationId: 'createAccount', body: { name: 'Acme' } },
        isUndo: false,
        isFaked: true,
      },
    ]);
    expect(run.tasks.map((task: Body) => [task.name, task.status])).to.deep.equal([
      ['make', 'completed'],
      ['rest', 'completed'],
      ['done', 'completed'],
    ]);
    // Three days.
    expect(Date.parse(run.endedAt) - Date.parse(run.startedAt)).to.equal(259_200_000);
    const { db, tenantId } = tenant.scope;
    expect(await WorkflowTask.query(db.read).forTenant(tenantId).resultSize()).to.equal(0);
    const accounts = await tenant.get('/v1/approvals').expect(200);
    expect(accounts.body.data).to.deep.equal([]);
  });

  // spec/beyond.md R346
  it('take back what was done where a task fails', async () => {
    const fails = { ...results, ask: { output: { decision: 'reject' } } };
    const run = await simulate([make, ask], { input: { name: 'Acme' }, results: fails });
    expect(run).to.include({ status: 'failed' });
    expect(run.error).to.include({ status: 403, instance: '/do/1/ask' });
    expect(run.undone).to.deep.equal(['/do/0/make']);
    expect(run.calls.at(-1)).to.deep.include({
      isUndo: true,
      with: { operationId: 'deleteAccount', parameters: { accountId: 'a-2' } },
    });
    const taken = [{ error: { status: 409, detail: 'Taken.' } }];
    const twice = await simulate([make, { again: make.make }], {
      input: { name: 'Acme' },
      results: { make: { output: { id: 'a-1', name: 'Acme' } }, again: taken },
    });
    expect(twice.error).to.include({ status: 409, detail: 'Taken.' });
  });

  // spec/beyond.md R346
  it('let the time of an approval go by, and the first of two branches win', async () => {
    const late = { ask: { output: { decision: 'timeout' } } };
    const run = await simulate([ask], { results: late });
    expect(run.error).to.include({ status: 403 });
    expect(Date.parse(run.endedAt) - Date.parse(run.startedAt)).to.equal(172_800_000);
    const { ask: call } = ask;
    const branches = [
      { slow: { wait: 'PT2H' } },
      {
        calls: {
          do: [{ one: { ...make.make } }, { two: { wait: 'PT1H' } }, { last: { set: {} } }],
        },
      },
      { ask: call },
    ];
    const race = { race: { fork: { compete: true, branches } } };
    const raced = await simulate([race], {
      input: { name: 'x' },
      results: { ...late, one: { output: { id: 'b' } } },
    });
    expect(raced.output).to.deep.equal({});
    expect(Date.parse(raced.endedAt) - Date.parse(raced.startedAt)).to.equal(3_600_000);
    const of = (name: string) => raced.tasks.find((task: Body) => task.name === name).status;
    expect([of('slow'), of('calls'), of('ask')]).to.deep.equal([
      'canceled',
      'completed',
      'canceled',
    ]);
  });

  // spec/beyond.md R347
  it('are bounded', async () => {
    const list = { for: { in: '${ input.list }' }, do: [{ one: { set: '${ input }' } }] };
    const many = Array.from({ length: 900 }, (_each, index) => index);
    const loops = await simulate([{ a: list }, { b: list }], { input: { list: many } });
    expect(loops.status).to.equal('stopped');
    const dear = { set: { n: '${ input.list.all(x, input.list.all(y, x < 0 || y >= 0)) }' } };
    const few = many.slice(0, 100);
    const costly = {
      for: { in: '${ input.turns }' },
      do: [{ one: { ...dear, output: { as: '${ input }' } } }],
    };
    const spent = await simulate([{ a: costly }], { input: { list: few, turns: many } });
    expect(spent.status).to.equal('failed');
    expect(spent.error.detail).to.contain('cost more');
  });

  // spec/beyond.md R347
  it('are bounded in what they would take back, too', async () => {
    const call = {
      call: 'durabill.operation',
      with: { operationId: 'listAccounts' },
      'durabill.undo': {
        call: 'http',
        with: {
          method: 'POST',
          endpoint: 'https://crm.example/',
          body: '${ workflow.input.text }',
        },
      },
    };
    // 70 calls that take back, of 10,000 characters: 0.7 MB that are kept, and as much that is called.
    const tasks = [
      { small: { set: {} } },
      { each: { for: { in: '${ workflow.input.turns }' }, do: [{ call }] } },
      { stop: { raise: { error: { type: 'urn:stop', status: 400 } } } },
    ];
    const input = { text: 'x'.repeat(10_000), turns: Array.from({ length: 70 }, () => 1) };
    const run = await simulate(tasks, { input });
    expect(run).to.include({ status: 'stopped' });
    expect(run.error.detail).to.contain('more than a dry run shows');
    expect(run.calls.filter(({ isUndo }: Body) => isUndo).length).to.be.within(1, 69);
  });

  // spec/beyond.md R405
  it('refuse an input and results that have a member twice', async () => {
    await simulate([make], { input: { name: 'x' }, results });
    const path = `/v1/workflows/dry-${count}/simulate`;
    const twice = 'is there twice: which of the two is meant?';
    const rows = [
      ['{"input":{"name":"a","name":"b"}}', 'input/name', 'name'],
      ['{"results":{"make":{"output":{"n/1":1,"n/1":2}}}}', 'results/make/output/n~11', 'n/1'],
      ['{"input":{},"input":{}}', 'input', 'input'],
    ] as const;
    for (const [text, place, name] of rows) {
      const { error } = (await tenant.post(path, text).expect(400)).body;
      expect(error.message).to.equal(`'${place}': '${name}' ${twice}`);
      const faults = [{ pointer: `/${place}`, message: `'${name}' ${twice}` }];
      expect(error.details).to.deep.equal({ field: place, faults });
    }
  });

  // spec/beyond.md R347
  it('end when nobody waits for them any more', async () => {
    let isAbandoned = false;
    const host = new DryHost(
      0,
      () => undefined,
      () => isAbandoned,
    );
    const row = { seq: 1, path: '/do/0/a', name: 'a', kind: 'set', status: 'running' } as const;
    await host.keep([{ ...row, startedAt: '2026-01-01T00:00:00Z', attempts: 1 }]);
    isAbandoned = true;
    let error: unknown;
    await host.keep([]).catch((thrown: unknown) => {
      error = thrown;
    });
    expect(error).to.be.instanceOf(DryRunStopped);
  });

  it('refuse results of no task, a wrong input, and what is built in', async () => {
    const schema = { format: 'json', document: { type: 'object', required: ['n'] } };
    const document = { dsl: '1.0.0', namespace: 'test', name: 'with-schema', version: '1.0.0' };
    const definition = { document, input: { schema }, do: [{ a: { set: {} } }] };
    await tenant.post('/v1/workflows', { definition }).expect(201);
    const path = '/v1/workflows/with-schema/simulate';
    await tenant.post(path, { input: {} }).expect(400);
    const other = { input: { n: 1 }, results: { b: { output: 1 } } };
    await tenant.post(path, other).expect(400);
    await tenant.post(path, { input: { n: 1 }, results: { a: { output: 1, x: 1 } } }).expect(400);
    await tenant.post(path, { input: { n: 1 } }).expect(200);
    await tenant.post('/v1/workflows/nothing/simulate', {}).expect(404);
    await tenant.post('/v1/workflows/account-create/simulate', {}).expect(409);
    const another = await instance.tenant();
    await another.post(path, { input: { n: 1 } }).expect(404);
  });
});
