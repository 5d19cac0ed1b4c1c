import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import {
  definitionFaults,
  definitionFaultsInTurns,
} from '../../../src/commands/workflows/check-definition.js';

const document = { dsl: '1.0.0', namespace: 'test', name: 'dear', version: '1.0.0' };
const options = { secrets: new Set<string>() };
const many = (count: number, name: (index: number) => string, value: (index: number) => unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_each, index) => [name(index), value(index)]));

/** spec/beyond.md R323, R331 */
describe('the check of a definition that is as long as one may be', () => {
  it('says of far too many tasks only that', () => {
    const tasks = Array.from({ length: 6_000 }, (_each, index) => ({ [`a${index}`]: {} }));
    expect(definitionFaults({ document, do: tasks }, options)).to.deep.equal([
      { pointer: '/do', message: 'A definition has at most 200 tasks.' },
    ]);
    const nested = tasks.slice(0, 150).map((_each, index) => ({ [`b${index}`]: { set: {} } }));
    const both = [{ one: { do: nested } }, { two: { do: nested } }];
    // One and its 150, two and its first 48 are 200.
    expect(definitionFaults({ document, do: both }, options)).to.deep.equal([
      { pointer: '/do/1/two/do/48/b48', message: 'A definition has at most 200 tasks.' },
    ]);
  });

  it('gives an answer that is not much longer, however long names are', () => {
    const inner = many(
      100,
      (index) => `k${index}`,
      () => '${ nobody }',
    );
    const set = { ['x'.repeat(100_000)]: inner };
    const faults = definitionFaults({ document, do: [{ one: { set } }] }, options);
    // Each pointer has more than 100,000 characters, and 262,144 are the most.
    expect(faults).to.have.length(2);
    expect(faults[1]?.message).to.contain('nobody');
  });

  it('gives the first hundred of wrong expressions, in their order among the rest', () => {
    const set = many(
      5_000,
      (index) => `k${index}`,
      () => '${ nobody }',
    );
    const tasks = [{ one: { set } }, { two: { set: {}, then: 'one' } }];
    const faults = definitionFaults({ document, do: tasks }, options);
    expect(faults.map(({ pointer }) => pointer)).to.deep.equal(
      Array.from({ length: 100 }, (_each, index) => `/do/0/one/set/k${index}`),
    );
  });

  it('lets others have turns while it compiles expressions', async () => {
    // Others than in any other test: what was compiled before is known.
    const set = many(
      3_500,
      (index) => `k${index}`,
      (index) => `\${ ${index} + 424242 }`,
    );
    let turns = 0;
    let isOver = false;
    const count = async (): Promise<void> => {
      for (; !isOver; turns += 1) await nextTurn();
    };
    const counting = count();
    const faults = await definitionFaultsInTurns({ document, do: [{ one: { set } }] }, options);
    isOver = true;
    await counting;
    expect(faults).to.deep.equal([]);
    expect(turns).to.be.above(10);
  });
});
