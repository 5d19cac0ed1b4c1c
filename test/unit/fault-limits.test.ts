import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { limitFaults } from '../../src/schemas/http/fault-limits.js';

/** How many faults a value has for a schema, among those that are looked for. */
function countFaults(schema: object, value: unknown): number {
  const ajv = new Ajv2020({ allErrors: true, discriminator: true, strict: false });
  limitFaults(ajv);
  const check = ajv.compile(schema);
  return check(value) ? 0 : (check.errors ?? []).length;
}

const texts = (count: number): string[] => Array.from({ length: count }, () => 'x');
const listOf = (type: string) => ({ type: 'array', items: { type } });

// docs/decisions/0262, 0503
describe('faults of arrays', () => {
  it('are looked for until there are enough', () => {
    expect(countFaults(listOf('number'), texts(100))).to.equal(100);
    expect(countFaults(listOf('number'), texts(100_000))).to.equal(1_000);
  });

  it('are looked for until there are enough in each array of an array', () => {
    const lists = Array.from({ length: 100 }, () => texts(300));
    const found = countFaults({ type: 'array', items: listOf('number') }, lists);
    expect(found).to.be.within(1_000, 1_300);
  });

  it('are found in each of several forms, whatever the forms before have', () => {
    const forms = { anyOf: [listOf('number'), listOf('object'), listOf('string')] };
    expect(countFaults(forms, texts(5_000))).to.equal(0);
    expect(countFaults(forms, [...texts(5_000), null])).to.be.greaterThan(0);
  });
});
