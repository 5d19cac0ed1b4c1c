import { expect } from 'chai';
import { decodeJwt } from 'jose';
import request from 'supertest';
import { accessKeyId, createAccessKey, revokeAccessKey } from '../../src/access/access-keys.js';
import { revokeTokenById } from '../../src/access/token-revocations.js';
import { createAccount } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

/** What its operation declares: what of it the tests need, they know. */
type Body = ReturnType<typeof JSON.parse>;

describe("tenants' workflows: executions", () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  let count = 0;

  const define = async (tasks: object[], more: object = {}): Promise<string> => {
    count += 1;
    const document = { dsl: '1.0.0', namespace: 'test', name: `flow-${count}`, version: '1.0.0' };
    const body = { definition: { document, do: tasks, ...more } };
    return (await tenant.post('/v1/workflows', body).expect(201)).body.name;
  };
  const execute = async (name: string, data: object = {}): Promise<Body> =>
    (await tenant.post(`/v1/workflows/${name}/execute`, { data }).expect(200)).body;
  const run = async (tasks: object[], data: object = {}): Promise<Body> =>
    execute(await define(tasks), data);

  // spec/beyond.md R328, R329
  const flows: readonly [string, object[], object, unknown][] = [
    ['set', [{ a: { set: { n: '${ input.n + 1 }' } } }], { n: 1 }, { n: 2 }],
    [
      'data from task to task, output.as and export.as',
      [
        { a: { set: { n: 5 }, export: { as: { kept: '${ output.n }' } } } },
        { b: { set: { m: '${ input.n * 2 }' }, output: { as: { m: '${ output.m + 1 }' } } } },
        { c: { set: { all: ['${ input.m }', '${ context.kept }'] } } },
      ],
      {},
      { all: [11, 5] },
    ],
    [
      'if leaves a task out',
      [{ a: { if: '${ input.n > 5 }', set: { n: 0 } } }],
      { n: 3 },
      { n: 3 },
    ],
    [
      'switch goes on where it says',
      [
        {
          s: {
            switch: [
              { high: { when: '${ input.n > 5 }', then: 'high' } },
              { other: { then: 'low' } },
            ],
          },
        },
        { high: { set: { is: 'high' }, then: 'end' } },
        { low: { set: { is: 'low' } } },
      ],
      { n: 9 },
      { is: 'high' },
    ],
    [
      'for with while',
      [
        { start: { set: { sum: 0, list: '${ input.list }' } } },
        {
          loop: {
            for: { each: 'x', in: '${ input.list }' },
            while: '${ index < 3 }',
            do: [{ add: { set: { sum: '${ input.sum + x }', list: [] } } }],
          },
        },
      ],
      { list: [1, 2, 3, 4] },
      { sum: 6, list: [] },
    ],
    [
      'fork gives what its branches gave',
      [
        {
          f: {
            fork: {
              branches: [{ a: { set: 'plain' } }, { b: { set: { n: '${ input.n }' } } }],
            },
          },
        },
        { g: { set: { of: '${ input }' } } },
      ],
      { n: 1 },
      { of: ['plain', { n: 1 }] },
    ],
    [
      'the fastest branch wins',
      [
        {
          f: {
            fork: {
              compete: true,
              branches: [{ slow: { wait: 'PT1H' } }, { fast: { set: { is: 'fast' } } }],
            },
          },
        },
      ],
      {},
      { is: 'fast' },
    ],
    [
      'catch takes what is raised',
      [
        {
          t: {
            try: [{ r: { raise: { error: { type: 'urn:x', status: 409, detail: 'No.' } } } }],
            catch: {
              errors: { with: { status: 409 } },
              as: 'e',
              do: [{ h: { set: { why: '${ e.detail }', type: '${ e.type }' } } }],
            },
          },
        },
      ],
      {},
      { why: 'No.', type: 'urn:x' },
    ],
    ['wait', [{ w: { wait: { milliseconds: 20 } } }, { a: { set: { n: 1 } } }], {}, { n: 1 }],
  ];
  for (const [title, tasks, data, expected] of flows) {
    it(title, async () => {
      const { status, output, error } = await run(tasks, data);
      expect(error).to.equal(null);
      expect(status).to.equal('completed');
      expect(output).to.deep.equal(expected);
    });
  }

  // spec/beyond.md R330
  it('call operations and flows, and show their timeline', async () => {
    await createAccount(tenant, 'acme');
    const name = await define([
      {
        look: {
          call: 'durabill.operation',
          with: {
            operationId: 'getAccount',
            parameters: { accountId: '${ input.account }', isExternal: true },
          },
        },
      },
      {
        edit: {
          call: 'durabill.account-edit',
          with: { id: '${ input.data.Id }', net_term: 'Net 30' },
        },
      },
      { done: { set: { text: '${ input.netTerm }' } } },
    ]);
    const { executionId, output, error } = await execute(name, { account: 'acme' });
    expect(error?.message ?? null).to.equal(null);
    expect(output).to.deep.equal({ text: 'Net 30' });
    const path = `/v1/workflows/${name}/executions/${executionId}`;
    const shown = (await tenant.get(path).expect(200)).body;
    expect(shown).to.include({ status: 'completed', workflowName: name });
    const timeline = (await tenant.get(`${path}/timeline`).expect(200)).body;
    expect(timeline.data.map((task: Body) => [task.name, task.status])).to.deep.equal([
      ['look', 'completed'],
      ['edit', 'completed'],
      ['done', 'completed'],
    ]);
    expect(timeline.data[2].output).to.deep.equal({ text: 'Net 30' });
  });

  const look = (accountId: string) => ({
    look: {
      call: 'durabill.operation',
      with: { operationId: 'getAccount', parameters: { accountId } },
    },
  });

  it('fail with the status of what they call, at its place', async () => {
    const { status, error } = await run([look('nobody')]);
    expect(status).to.equal('failed');
    expect(error).to.include({ status: 404 });
    expect(error.details.error.instance).to.equal('/do/0/look');
  });

  // spec/beyond.md R334
  it('do no more than their publisher still may', async () => {
    const db = instance.platform.database.platform;
    const key = await createAccessKey(db, {
      tenantId: tenant.id,
      orgId: null,
      roles: ['ADMIN'],
      name: 'publisher',
    });
    const document = { dsl: '1.0.0', namespace: 'test', name: 'of-a-key', version: '1.0.0' };
    const make = {
      make: {
        call: 'durabill.operation',
        with: {
          operationId: 'createAccount',
          body: { name: 'Made', externalId: '${ input.externalId }' },
        },
      },
    };
    const publish = await request(instance.url)
      .post('/v1/workflows')
      .set('Authorization', `Bearer ${key}`)
      .send({ definition: { document, do: [make] } });
    expect(publish.status).to.equal(201);
    expect((await execute('of-a-key', { externalId: 'made-1' })).status).to.equal('completed');
    // Whoever starts it may more than the publisher, who may read alone by now.
    await db('accessKey')
      .where({ id: accessKeyId(key) })
      .update({ roles: ['READER'] });
    const second = await execute('of-a-key', { externalId: 'made-2' });
    expect(second.error).to.include({ status: 403 });
    await revokeAccessKey(db, accessKeyId(key));
    const third = await execute('of-a-key', { externalId: 'made-3' });
    expect(third.error).to.include({ status: 403 });
    expect(third.error.message).to.contain('publish it again');
    for (const externalId of ['made-2', 'made-3']) {
      await tenant.get(`${external}/accounts/${externalId}?isExternal=true`).expect(404);
    }
    const own = { definition: { document, do: [make] } };
    await tenant.put('/v1/workflows/of-a-key', own).expect(200);
    expect((await execute('of-a-key', { externalId: 'made-4' })).status).to.equal('completed');
  });

  // spec/beyond.md R321, R334
  it('stand with what their publisher signed in with last', async () => {
    const document = { dsl: '1.0.0', namespace: 'test', name: 'of-tokens', version: '1.0.0' };
    const list = { call: 'durabill.operation', with: { operationId: 'listAccounts' } };
    const definition = { document, do: [{ list }] };
    const first = await instance.token(tenant.id);
    const publish = (token: string) => {
      const call = request(instance.url).put('/v1/workflows/of-tokens');
      return call.set('Authorization', `Bearer ${token}`).send({ definition }).expect(200);
    };
    const made = (await tenant.post('/v1/workflows', { definition }).expect(201)).body;
    expect((await publish(first)).body).to.deep.equal(made);
    const { jti = '' } = decodeJwt(first);
    await revokeTokenById(instance.platform.database.platform, {
      tenantId: tenant.id,
      jti,
      revokedBy: 'tester',
      revokedAt: new Date(),
    });
    expect((await execute('of-tokens', {})).error).to.include({ status: 403 });
    expect((await publish(await instance.token(tenant.id))).body).to.deep.equal(made);
    expect((await execute('of-tokens', {})).status).to.equal('completed');
  });

  // spec/beyond.md R332
  it('take back what they did when they fail, the newest first', async () => {
    const make = (externalId: string) => ({
      call: 'durabill.operation',
      with: { operationId: 'createAccount', body: { name: externalId, externalId } },
      'durabill.undo': {
        call: 'durabill.operation',
        with: { operationId: 'deleteAccount', parameters: { accountId: '${ output.id }' } },
      },
    });
    const { status, error } = await run([
      { first: make('undone-1') },
      { second: make('undone-2') },
      { stop: { raise: { error: { type: 'urn:stop', status: 409 } } } },
    ]);
    expect(status).to.equal('failed');
    expect(error.details.undone).to.deep.equal(['/do/1/second', '/do/0/first']);
    await tenant.get(`${external}/accounts/undone-1?isExternal=true`).expect(404);
    await tenant.get(`${external}/accounts/undone-2?isExternal=true`).expect(404);
  });

  it('keep to the version that they began with, and are canceled', async () => {
    const name = await define([{ w: { wait: 'PT1H' } }]);
    const { body } = await tenant
      .post(`/v1/workflows/${name}/execute`, { data: {}, async: true })
      .expect(200);
    await tenant.delete(`/v1/workflows/${name}`).expect(409);
    const path = `/v1/workflows/${name}/executions/${body.executionId}`;
    await tenant.post(`${path}/cancel`).expect(200);
    for (let status = 'running'; status === 'running';) {
      ({ status } = (await tenant.get(path).expect(200)).body);
    }
    await tenant.delete(`/v1/workflows/${name}`).expect(204);
  });

  // spec/beyond.md R333
  it('fail with their reason where they pass a limit', async () => {
    const turns = await run(
      [{ l: { for: { in: '${ input.x }' }, do: [{ a: { set: { n: 1 } } }] } }],
      { x: Array.from({ length: 1_001 }, () => 1) },
    );
    expect(turns.error.message).to.contain('at most 1000 turns');
    expect(turns.error.details.error).to.include({ status: 500 });
    const big = await run([{ a: { set: { x: '${ [input.x, input.x] }' } } }], {
      x: 'x'.repeat(140_000),
    });
    expect(big.error.message).to.contain('bytes');
    const dear = await run(
      [{ a: { set: { x: '${ input.x.all(a, input.x.all(b, input.x.all(c, c == c))) }' } } }],
      { x: Array.from({ length: 900 }, (_each, index) => index) },
    );
    expect(dear.error.message).to.contain('costs more');
    for (const { error } of [turns, big, dear]) {
      expect(error).to.include({ code: 'LIMIT_REACHED', status: 409 });
    }
  });

  // spec/beyond.md R402
  it('fail with a code that says whose fault it was', async () => {
    const codeOf = async (error: object): Promise<string> =>
      (await run([{ stop: { raise: { error } } }])).error.code;
    // Whatever a definition raises is no failure of ours.
    expect(await codeOf({ type: 'urn:x', status: 500 })).to.equal('CONFLICT');
    expect(await codeOf({ type: 'urn:x', status: 422 })).to.equal('CONFLICT');
    expect(await codeOf({ type: 'urn:x', status: 404 })).to.equal('NOT_FOUND');
    expect((await run([look('nobody')])).error.code).to.equal('NOT_FOUND');
    // Its title is a text as any other.
    expect(await codeOf({ type: 'urn:x', status: 404, title: 'internal' })).to.equal('NOT_FOUND');
    const timeout = { type: 'urn:x', status: 409, title: 'timeout' };
    const late = await run([{ stop: { raise: { error: timeout } } }]);
    expect([late.status, late.error.code]).to.deep.equal(['failed', 'CONFLICT']);
  });

  it('refuse an input that is not as their schema says', async () => {
    const document = { type: 'object', required: ['n'], properties: { n: { type: 'number' } } };
    const input = { schema: { format: 'json', document } };
    const name = await define([{ a: { set: { n: '${ input.n }' } } }], { input });
    await tenant.post(`/v1/workflows/${name}/execute`, { data: {} }).expect(400);
    await tenant.post(`/v1/workflows/${name}/execute`, { data: { n: 'x' } }).expect(400);
    // spec/beyond.md R409
    const long = { n: 1, text: 'x'.repeat(524_288) };
    await tenant.post(`/v1/workflows/${name}/execute`, { data: long }).expect(400);
    expect((await execute(name, { n: 2 })).output).to.deep.equal({ n: 2 });
  });
});
