import fc from 'fast-check';

const document = { dsl: '1.0.0', namespace: 'test', name: 'faulty', version: '1.0.0' };
const set = { set: { a: '${ input.n }' } };
const raised = { raise: { error: { type: 'urn:x', status: 409 } } };

/** A task of each kind, with all that it may have. */
const tasks: Readonly<Record<string, object>> = {
  call: {
    call: 'http',
    with: { method: 'GET', endpoint: 'https://example.com', headers: { a: 'b' } },
  },
  ask: {
    call: 'durabill.approval',
    with: { title: 'Go on?', timeout: 'PT1H', onTimeout: 'fail', roles: ['ADMIN'], quorum: 1 },
  },
  look: {
    call: 'durabill.operation',
    with: { operationId: 'listAccounts', parameters: { size: 1 } },
  },
  set: { ...set, if: '${ input.n > 1 }', output: { as: '${ output.a }' }, then: 'last' },
  do: { do: [{ a: set }, { b: set }], input: { from: { n: '${ input.n }' } } },
  loop: { for: { each: 'x', in: '${ [1] }', at: 'i' }, while: '${ i < 1 }', do: [{ a: set }] },
  fork: { fork: { branches: [{ a: set }, { b: set }], compete: true } },
  switch: { switch: [{ a: { when: '${ true }', then: 'last' } }, { b: { then: 'end' } }] },
  try: {
    try: [{ a: raised }],
    catch: {
      errors: { with: { status: 409 } },
      as: 'e',
      when: '${ e.status == 409 }',
      retry: { delay: { seconds: 1 }, limit: { attempt: { count: 2 } } },
      do: [{ b: set }],
    },
  },
  raise: raised,
  wait: { wait: 'PT1S' },
  listen: { listen: { to: { one: { with: { type: 'custom.a', data: '${ data.n > 1 }' } } } } },
  emit: { emit: { event: { with: { type: 'custom.a', data: { n: 1 } } } } },
  last: {
    ...set,
    'durabill.undo': { call: 'http', with: { method: 'GET', endpoint: 'https://a.b' } },
  },
};
/** A definition with a task of each kind. */
export const wholeDefinition = {
  document,
  input: { schema: { format: 'json', document: { type: 'object' } } },
  output: { as: '${ output }' },
  schedule: { on: { one: { with: { type: 'custom.b', data: '${ data.n > 1 }' } } } },
  do: Object.entries(tasks).map(([name, task]) => ({ [name]: task })),
};
type Place = { readonly of: Record<string, unknown>; readonly name: string };
/** Every place of a value, itself left out. */
function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const of = value as Record<string, unknown>;
  return Object.keys(of).flatMap((name) => [{ of, name }, ...placesIn(of[name])]);
}
/** As JSON has it, where no name has a meaning of its own. */
function own(of: object, name: string, value: unknown): void {
  Object.defineProperty(of, name, { value, enumerable: true, writable: true, configurable: true });
}
const odd = [null, 5, '', 'x', '${', '${ }', '${ 1 +', true, [], {}, [null], [[]], { a: null }];
const oddNames = ['__proto__', 'constructor', 'toString', '', '/', '~', 'then', 'do', 'call'];

/** A change of a definition: something else at one of its places, or under another name. */
const change = fc.record({
  at: fc.nat(),
  to: fc.oneof(fc.constantFrom<unknown>(...odd), fc.jsonValue()),
  name: fc.option(fc.constantFrom(...oddNames), { nil: undefined, freq: 3 }),
});

/** Definitions, changed at some places, as JSON has them. */
export const changedFrom = (definitions: fc.Arbitrary<object>): fc.Arbitrary<object> =>
  fc
    .tuple(definitions, fc.array(change, { minLength: 1, maxLength: 4 }))
    .map(([definition, changes]) => {
      const changed = structuredClone(definition);
      for (const { at, to, name } of changes) {
        const places = placesIn(changed);
        const place = places[at % Math.max(places.length, 1)];
        if (!place) continue;
        const isList = Array.isArray(place.of);
        own(place.of, isList ? place.name : (name ?? place.name), structuredClone(to));
      }
      return JSON.parse(JSON.stringify(changed)) as object;
    });
