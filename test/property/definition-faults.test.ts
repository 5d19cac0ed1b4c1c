import { expect } from 'chai';
import fc from 'fast-check';
import { definitionFaults } from '../../src/commands/workflows/check-definition.js';
import { changedFrom, wholeDefinition as whole } from '../support/workflows/changed-definitions.js';

const faultsOf = (definition: unknown) => definitionFaults(definition, { secrets: new Set() });

describe('definitions that are wrong', function () {
  this.timeout(120_000);

  it('are none without a fault in them', () => {
    expect(faultsOf(whole)).to.deep.equal([]);
  });

  // spec/beyond.md R323
  it('are answered with faults wherever anything else stands, and with nothing else', () => {
    fc.assert(
      fc.property(changedFrom(fc.constant(whole)), (sent) => {
        const faults = faultsOf(sent).map(({ pointer, message }) => `${pointer} ${message}`);
        for (const fault of faults) expect(fault).to.match(/^(\/.*)? \S/s);
        expect(new Set(faults).size, faults.join('\n')).to.equal(faults.length);
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
