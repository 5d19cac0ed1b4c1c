import { expect } from 'chai';
import fc from 'fast-check';
import { definitionFaults } from '../../src/commands/workflows/check-definition.js';

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
const whole = {
  document,
  input: { schema: { format: 'json', document: { type: 'object' } } },
  output: { as: '${ output }' },
  schedule: { on: { one: { with: { type: 'custom.b', data: '${ data.n > 1 }' } } } },
  do: Object.entries(tasks).map(([name, task]) => ({ [name]: task })),
};
const faultsOf = (definition: unknown) => definitionFaults(definition, { secrets: new Set() });

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

describe('definitions that are wrong', function () {
  this.timeout(120_000);

  it('are none without a fault in them', () => {
    expect(faultsOf(whole)).to.deep.equal([]);
  });

  // spec/beyond.md R323
  it('are answered with faults wherever anything else stands, and with nothing else', () => {
    const count = placesIn(whole).length;
    const change = fc.record({
      at: fc.nat(count - 1),
      to: fc.oneof(fc.constantFrom<unknown>(...odd), fc.jsonValue()),
      name: fc.option(fc.constantFrom(...oddNames), { nil: undefined, freq: 3 }),
    });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const definition = structuredClone(whole);
        for (const { at, to, name } of changes) {
          const places = placesIn(definition);
          const place = places[at % Math.max(places.length, 1)];
          if (!place) continue;
          own(
            place.of,
            Array.isArray(place.of) ? place.name : (name ?? place.name),
            structuredClone(to),
          );
        }
        const sent: unknown = JSON.parse(JSON.stringify(definition));
        for (const { pointer, message } of faultsOf(sent)) {
          expect(pointer).to.match(/^(\/|$)/);
          expect(message).to.match(/\S/);
        }
      }),
      { numRuns: 3_000 },
    );
  });

  // spec/beyond.md R323
  it('have each of their faults named, however many there are elsewhere', () => {
    const wrong = '${ nobody.knows }';
    const planted: readonly [pointer: string, plant: (of: Json) => void][] = [
      ['/colour', (of) => (of['colour'] = 1)],
      ['/do/0/call/with/method', (of) => (taskIn(of, 0)['with']['method'] = 'LOOK')],
      ['/do/0/call/colour', (of) => (taskIn(of, 0)['colour'] = 1)],
      ['/do/1/ask/with/quorum', (of) => (taskIn(of, 1)['with']['quorum'] = 0)],
      [
        '/do/2/look/with/parameters/page',
        (of) => (taskIn(of, 2)['with']['parameters']['page'] = wrong),
      ],
      ['/do/3/set/if', (of) => (taskIn(of, 3)['if'] = 'input.n')],
      ['/do/3/set/set/a', (of) => (taskIn(of, 3)['set']['a'] = wrong)],
      ['/do/4/do/do/0/a/set/a', (of) => (taskIn(of, 4)['do'][0]['a'] = { set: { a: wrong } })],
      ['/do/4/do/then', (of) => (taskIn(of, 4)['then'] = 'nowhere')],
      ['/do/5/loop/for/colour', (of) => (taskIn(of, 5)['for']['colour'] = 1)],
      ['/do/5/loop/while', (of) => (taskIn(of, 5)['while'] = wrong)],
      ['/do/6/fork/fork/branches/1', (of) => (taskIn(of, 6)['fork']['branches'][1] = {})],
      ['/do/8/try/catch/colour', (of) => (taskIn(of, 8)['catch']['colour'] = 1)],
      ['/do/8/try/catch/do/0/b', (of) => (taskIn(of, 8)['catch']['do'][0]['b'] = { fly: 1 })],
      ['/do/10/wait/wait', (of) => (taskIn(of, 10)['wait'] = 'soon')],
      ['/do/13/last/export', (of) => (taskIn(of, 13)['export'] = 1)],
    ];
    fc.assert(
      fc.property(fc.subarray([...planted], { minLength: 1 }), (some) => {
        const definition = structuredClone(whole) as unknown as Json;
        for (const [, plant] of some) plant(definition);
        const named = faultsOf(definition).map(({ pointer }) => pointer);
        expect(named).to.include.members(some.map(([pointer]) => pointer));
      }),
      { numRuns: 500 },
    );
  });
});

/** Whatever it is: the test knows what it has written. */
type Json = ReturnType<typeof JSON.parse>;

const taskIn = (definition: Json, index: number): Json => Object.values(definition['do'][index])[0];
