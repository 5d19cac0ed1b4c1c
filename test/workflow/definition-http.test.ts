import { expect } from 'chai';
import { afterEachActivity } from '../support/servers/activities.js';
import { json, openServer } from '../support/servers/elsewhere.js';
import { historiesOf, workflowIdOf } from '../support/servers/histories.js';
import { asOwner } from '../support/servers/rows.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

/** What its operation declares: what of it the tests need, they know. */
type Body = ReturnType<typeof JSON.parse>;

/** All texts in a value, those of payloads in histories among them. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (value instanceof Uint8Array) return [Buffer.from(value).toString()];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => [name, ...textsOf(one)]);
}

// spec/beyond.md R335, R336
describe("tenants' workflows: calls of servers elsewhere", () => {
  let failures = 0;
  const instance = useInstance({
    withWorkers: true,
    webhooks: { timeoutMs: 1_500 },
    activityInterceptors: afterEachActivity(() => {
      if (failures === 0) return;
      failures -= 1;
      throw new Error('The worker dies after its call.');
    }, 'callHttp'),
  });
  const tenant = useTenant(instance);
  let server: Awaited<ReturnType<typeof openServer>>;
  before(async () => {
    server = await openServer();
  });
  after(() => server.close());
  beforeEach(() => server.asked.splice(0));
  let count = 0;

  const define = async (tasks: object[]): Promise<string> => {
    count += 1;
    const document = { dsl: '1.0.0', namespace: 'test', name: `http-${count}`, version: '1.0.0' };
    const body = { definition: { document, do: tasks } };
    return (await tenant.post('/v1/workflows', body).expect(201)).body.name;
  };
  const run = async (tasks: object[], data: object = {}): Promise<Body> => {
    const name = await define(tasks);
    return (await tenant.post(`/v1/workflows/${name}/execute`, { data }).expect(200)).body;
  };
  const get = (more: object = {}) => ({
    ask: { call: 'http', with: { method: 'GET', endpoint: server.url, ...more } },
  });

  it('send what they say, and give what is answered', async () => {
    server.answer = json({ id: 'c-1', count: 2 });
    const { output, executionId, error } = await run(
      [
        {
          ask: {
            call: 'http',
            with: {
              method: 'POST',
              endpoint: `${server.url}/customers`,
              headers: { 'x-from': '${ input.from }' },
              query: { notify: true },
              body: { name: '${ input.name }' },
            },
          },
        },
      ],
      { from: 'billing', name: 'Acme' },
    );
    expect(error).to.equal(null);
    expect(output).to.deep.equal({ id: 'c-1', count: 2 });
    const [asked] = server.asked;
    expect(asked).to.include({ method: 'POST', url: '/customers?notify=true' });
    expect(asked?.body).to.equal('{"name":"Acme"}');
    expect(asked?.headers).to.include({
      'x-from': 'billing',
      'content-type': 'application/json',
      'idempotency-key': `${executionId}/1`,
    });
  });

  it('give a text as text, nothing as null, and the whole answer where it is wanted', async () => {
    server.answer = (_asked, response) => response.writeHead(201, { 'x-id': '7' }).end('["fine"]');
    expect((await run([get({ output: 'response' })])).output).to.deep.include({
      statusCode: 201,
      content: ['fine'],
    });
    server.answer = (_asked, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>');
    const text = [get(), { done: { set: { text: '${ input }' } } }];
    expect((await run(text)).output).to.deep.equal({ text: '<p>' });
    server.answer = (_asked, response) => response.writeHead(204).end();
    expect((await run(text)).output).to.deep.equal({ text: null });
    // Without a type it may be JSON.
    server.answer = (_asked, response) => response.writeHead(200).end('{"n": 7');
    expect((await run(text)).output).to.deep.equal({ text: '{"n": 7' });
    server.answer = (_asked, response) => response.writeHead(200).end('{"n": 7}');
    expect((await run(text)).output).to.deep.equal({ text: { n: 7 } });
  });

  it('fail where an answer says that it is JSON, and is none', async () => {
    const broken = (type: string) => {
      server.answer = (_asked, response) =>
        response.writeHead(200, { 'content-type': type }).end('{"id": 7, "name": "A');
    };
    for (const type of ['application/json', 'application/problem+json; charset=utf-8']) {
      broken(type);
      const { error } = await run([get({ output: 'response' })]);
      expect(error.details.error).to.include({ status: 502, instance: '/do/0/ask' });
      expect(error.message).to.contain('The answer is no valid JSON: {"id": 7, "name": "A');
    }
  });

  it('fail with the status that was answered, which can be caught', async () => {
    server.answer = json({ reason: 'no such customer' }, 422);
    const failed = await run([get()]);
    expect(failed.error.details.error).to.deep.include({ status: 422, instance: '/do/0/ask' });
    expect(failed.error.message).to.contain('The answer was 422.').and.contain('no such customer');
    // An error of theirs is none of ours: neither did we fail, nor is it we who have no such record.
    expect(failed.error).to.include({ code: 'BAD_GATEWAY', status: 502 });
    for (const status of [404, 500]) {
      server.answer = json({}, status);
      const { error } = await run([get()]);
      expect(error).to.include({ code: 'BAD_GATEWAY', status: 502 });
      expect(error.details.error).to.include({ status });
    }
    server.answer = json({ reason: 'no such customer' }, 422);
    const tries = { delay: { milliseconds: 1 }, limit: { attempt: { count: 3 } } };
    server.asked.splice(0);
    const caught = await run([
      {
        t: {
          try: [get()],
          catch: {
            errors: { with: { status: 422 } },
            retry: tries,
            do: [{ h: { set: { status: '${ error.status }' } } }],
          },
        },
      },
    ]);
    expect(caught.output).to.deep.equal({ status: 422 });
    expect(server.asked).to.have.length(3);
    // Each is a run of the task of its own.
    expect(new Set(server.asked.map(({ headers }) => headers['idempotency-key'])).size).to.equal(3);
  });

  it('follow no redirect, and fail where no answer comes, or too long a one', async () => {
    server.answer = (_asked, response) =>
      response.writeHead(302, { location: `${server.url}/elsewhere` }).end();
    expect((await run([get()])).error.details.error.status).to.equal(302);
    expect(server.asked).to.have.length(1);
    server.answer = () => undefined;
    expect((await run([get()])).error.details.error.status).to.equal(504);
    server.answer = (_asked, response) => response.writeHead(200).write('{');
    expect((await run([get()])).error.details.error.status).to.equal(504);
    server.answer = (_asked, response) => response.destroy();
    expect((await run([get()])).error.details.error.status).to.equal(503);
    server.answer = (_asked, response) => response.end('x'.repeat(131_073));
    const long = await run([get()]);
    expect(long.error.details.error.status).to.equal(502);
    expect(long.error.message).to.contain('131072 bytes');
  });

  it('send secrets, and never show them, whatever the server repeats', async () => {
    // No digits alone: Temporal's histories are full of such.
    const secret = 'hush "door-4711" /+ä';
    await tenant.put('/v1/secrets/CRM', { value: secret }).expect(200);
    server.answer = (asked, response) => {
      const sent = String(asked.headers['x-token']);
      response.writeHead(200, {
        'content-type': 'application/json',
        'x-echo': sent,
        'x-base': Buffer.from(sent.slice('hush '.length)).toString('base64'),
      });
      response.end(JSON.stringify({ [`the ${sent}`]: [sent, encodeURIComponent(sent)] }));
    };
    const sending = {
      method: 'POST',
      endpoint: `${server.url}/`,
      headers: { 'x-token': '${ "hush " + secrets.CRM }' },
      query: { key: '${ secrets.CRM }' },
      body: { of: '${ secrets.CRM }', plain: '${ workflow.input.n }' },
    };
    const name = await define([
      { send: { call: 'http', with: { ...sending, output: 'response' } } },
      { next: { set: { all: '${ input }' } } },
      get({ output: 'response' }),
      {
        t: {
          try: [{ bad: { call: 'http', with: { ...sending, endpoint: `${server.url}/bad` } } }],
          catch: { do: [{ h: { set: { why: '${ error.detail }' } } }] },
        },
      },
      { stop: { raise: { error: { type: 'urn:x', status: 409, detail: '${ input.why }' } } } },
    ]);
    const echo = server.answer;
    server.answer = (asked, response) =>
      asked.url.startsWith('/bad')
        ? json({ said: secret }, 500)(asked, response)
        : echo(asked, response);
    const { body } = await tenant.post(`/v1/workflows/${name}/execute`, { data: { n: 1 } });
    expect(server.asked[0]?.body).to.equal(JSON.stringify({ of: secret, plain: 1 }));
    expect(new URL(server.asked[0]?.url ?? '', server.url).searchParams.get('key')).to.equal(
      secret,
    );
    expect(server.asked[0]?.headers['x-token']).to.equal(`hush ${secret}`);
    expect(body.error.message).to.contain('***');
    const path = `/v1/workflows/${name}/executions/${body.executionId}`;
    const timeline = (await tenant.get(`${path}/timeline`).expect(200)).body;
    const { waiter } = instance.platform.temporal;
    const histories = await historiesOf(waiter, await workflowIdOf(tenant, body.executionId));
    const shown = [textsOf(body), textsOf(timeline), textsOf(histories)].map((all) => all.join());
    for (const text of shown) {
      expect(text).to.contain('***');
      expect(text).not.to.contain('door-4711');
      expect(text).not.to.contain(Buffer.from(secret).toString('base64'));
    }
  });

  it('fail when a secret is gone, and without a request', async () => {
    await tenant.put('/v1/secrets/GONE', { value: 'x1' }).expect(200);
    const name = await define([get({ headers: { a: '${ secrets.GONE }' } })]);
    await tenant.delete('/v1/secrets/GONE').expect(204);
    const { body } = await tenant.post(`/v1/workflows/${name}/execute`, { data: {} });
    expect(body.error).to.include({ status: 404 });
    expect(server.asked).to.deep.equal([]);
  });

  it('are made again under the same key when the worker dies after a call', async () => {
    server.answer = json({ n: server.asked.length });
    failures = 1;
    const { status } = await run([get()]);
    expect(status).to.equal('completed');
    const keys = server.asked.map(({ headers }) => headers['idempotency-key']);
    expect(keys).to.have.length(2);
    expect(keys[0]).to.equal(keys[1]);
  });

  it('are not made again where they succeeded, and only the timeline was not written', async () => {
    server.answer = json({ text: 'x'.repeat(50_000) });
    const tasks = [{ first: { set: { n: 1 } } }, get()];
    const name = await define(tasks);
    const { executionId, status, output } = await asOwner(instance.databaseUrl, async (client) => {
      await client.query(`
        create sequence fails;
        create function fail() returns trigger language plpgsql security definer as $$
        begin
          if nextval('fails') = 1 then raise exception 'failed by the test'; end if;
          return null;
        end $$;
        create trigger fail before insert on workflow_task
          for each statement execute function fail()`);
      try {
        return (await tenant.post(`/v1/workflows/${name}/execute`, { data: {} }).expect(200)).body;
      } finally {
        await client.query('drop function fail cascade; drop sequence fails');
      }
    });
    expect(status).to.equal('completed');
    expect(output.text).to.have.length(50_000);
    expect(server.asked).to.have.length(1);
    const path = `/v1/workflows/${name}/executions/${executionId}/timeline`;
    const { data } = (await tenant.get(path).expect(200)).body;
    expect(data.map((one: Body) => [one.name, one.status])).to.deep.equal([
      ['first', 'completed'],
      ['ask', 'completed'],
    ]);
  });
});

describe("tenants' workflows: calls of private addresses", () => {
  const instance = useInstance({ withWorkers: true, webhooks: { allowsPrivateAddresses: false } });
  const tenant = useTenant(instance);

  it('are refused as those of webhooks', async () => {
    const document = { dsl: '1.0.0', namespace: 'test', name: 'inside', version: '1.0.0' };
    const ask = { call: 'http', with: { method: 'GET', endpoint: '${ input.url }' } };
    await tenant.post('/v1/workflows', { definition: { document, do: [{ ask }] } }).expect(201);
    for (const url of ['http://127.0.0.1:1/', 'http://localhost:1/', 'http://169.254.169.254/']) {
      const { body } = await tenant.post('/v1/workflows/inside/execute', { data: { url } });
      expect(body.error, url).to.include({ status: 403 });
      expect(body.error.message).to.contain('not public');
    }
  });
});
