import { expect } from 'chai';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

type Fault = { readonly pointer: string; readonly message: string };

const document = { dsl: '1.0.0', namespace: 'test', name: 'language', version: '1.0.0' };
const set = { set: { a: 1 } };
const doing = (task: object, more: object = {}): object => ({
  document,
  do: [{ one: task }, { last: set }],
  ...more,
});
const raised = {
  raise: { error: { type: 'https://x.test/e', status: 418, title: 'T', detail: 'D' } },
};
const tried = (caught: object): object => ({ try: [{ a: raised }], catch: caught });
const get = { method: 'GET', endpoint: 'https://example.com/a' };
const heard = { with: { type: 'custom.done', data: '${ data.n > 1 }' } };
const each = { each: 'x', in: '${ [1, 2] }', at: 'i' };
const branches = [{ a: set }, { b: set }];

/** By the table of the guide: what is taken is accepted, each with all that stands there. */
const taken: Readonly<Record<string, object>> = {
  document: { ...doing(set), document: { ...document, title: 'A title', summary: 'What it does' } },
  'input.schema': doing(set, {
    input: { schema: { format: 'json', document: { type: 'object' } } },
  }),
  'input.from': doing({ ...set, input: { from: { n: '${ input.n }' } } }),
  'output.as': doing(
    { ...set, output: { as: '${ output.a }' } },
    { output: { as: { all: '${ output }' } } },
  ),
  'export.as': doing({ ...set, export: { as: { kept: '${ output.a }' } } }),
  do: doing({ do: [{ a: set }, { b: set }] }),
  'call: http': doing({
    call: 'http',
    with: { ...get, headers: { a: 'b' }, query: { q: '1' }, output: 'response' },
  }),
  'call of a flow': doing({ call: 'durabill.account-delete', with: { id: '${ input.id }' } }),
  if: doing({ ...set, if: '${ input.n > 1 }' }),
  switch: doing({ switch: [{ a: { when: '${ true }', then: 'last' } }, { b: { then: 'end' } }] }),
  then: doing({ ...set, then: 'last' }),
  for: doing({ for: each, while: '${ i < 1 }', do: [{ a: set }] }),
  fork: doing({ fork: { branches, compete: true } }),
  try: doing(
    tried({
      errors: { with: { type: 'https://x.test/e', status: 418, title: 'T' } },
      as: 'fault',
      when: '${ fault.status == 418 }',
      exceptWhen: '${ false }',
      do: [{ b: set }],
    }),
  ),
  retry: doing(
    tried({
      retry: {
        delay: { seconds: 1 },
        backoff: { exponential: {} },
        limit: { attempt: { count: 3 } },
      },
    }),
  ),
  raise: doing(raised),
  wait: doing({ wait: 'PT1S' }),
  'wait in parts': doing({ wait: { minutes: 1 } }),
  emit: doing({ emit: { event: { with: { type: 'custom.done', data: { n: 1 } } } } }),
  listen: doing({ listen: { to: { any: [heard] }, read: 'envelope', timeout: 'PT1M' } }),
  'schedule.on': doing(set, { schedule: { on: { one: heard } } }),
  'schedule.cron': doing(set, { schedule: { cron: '0 6 1 * *', timeZone: 'Europe/Berlin' } }),
};

/** What is left out is a fault when it is saved. */
const leftOut: Readonly<Record<string, object>> = {
  jq: doing({ set: { a: '${ .input.n | tostring }' } }),
  'an expression within a text': doing({ ...set, if: 'n is ${ input.n }' }),
  run: doing({ run: { shell: { command: 'ls' } } }),
  'call of gRPC': doing({ call: 'grpc', with: {} }),
  'call of OpenAPI': doing({ call: 'openapi', with: {} }),
  'endpoint as an object': doing({
    call: 'http',
    with: { ...get, endpoint: { uri: 'https://a.b' } },
  }),
  'names in an address': doing({ call: 'http', with: { ...get, endpoint: '{host}/a' } }),
  'methods in small letters': doing({ call: 'http', with: { ...get, method: 'get' } }),
  'emit with a source': doing({ emit: { event: { with: { type: 'custom.a', source: 'urn:x' } } } }),
  'emit of any type': doing({ emit: { event: { with: { type: 'com.example.a' } } } }),
  use: doing(set, { use: { secrets: ['a'] } }),
  'then to a task before': { document, do: [{ one: set }, { two: { ...set, then: 'one' } }] },
  'listen.to.all': doing({ listen: { to: { all: [heard] } } }),
  'listen.to.until': doing({ listen: { to: { any: [heard], until: '${ true }' } } }),
  foreach: doing({ listen: { to: { one: heard } }, foreach: { item: 'x' } }),
  correlate: doing({ listen: { to: { one: { ...heard, correlate: {} } } } }),
  'timeout of a task': doing({ ...set, timeout: { after: 'PT1S' } }),
  'timeout of the workflow': doing(set, { timeout: { after: 'PT1S' } }),
  'retry.when': doing(tried({ retry: { when: '${ true }', delay: { seconds: 1 } } })),
  'retry.jitter': doing(tried({ retry: { jitter: { from: 'PT1S', to: 'PT2S' } } })),
  'retry.limit.duration': doing(tried({ retry: { limit: { duration: 'PT1M' } } })),
  'schedule.every': doing(set, { schedule: { every: { minutes: 1 } } }),
  'schedule.after': doing(set, { schedule: { after: 'PT1M' } }),
  'schedule.on.all': doing(set, { schedule: { on: { all: [heard] } } }),
  metadata: doing({ ...set, metadata: { a: 1 } }),
  tags: { ...doing(set), document: { ...document, tags: { a: 'b' } } },
  extensions: doing(set, { use: { extensions: [] } }),
};

/** spec/beyond.md R358: the table of docs/guide/workflow-language.md. */
describe('the Open Workflow Specification', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  const faultsOf = async (definition: object): Promise<Fault[]> =>
    (await tenant.post('/v1/workflows/validate', { definition }).expect(200)).body.faults;

  for (const [feature, definition] of Object.entries(taken)) {
    it(`is taken: ${feature}`, async () => {
      expect(await faultsOf(definition)).to.deep.equal([]);
    });
  }

  for (const [feature, definition] of Object.entries(leftOut)) {
    it(`is left out: ${feature}`, async () => {
      expect(await faultsOf(definition)).to.not.be.empty;
    });
  }
});
