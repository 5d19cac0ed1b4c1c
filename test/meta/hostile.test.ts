import { expect } from 'chai';
import { parseJson } from '../../src/kernel/text/json.js';
import { validate } from '../../src/schemas/fields/validator.js';
import { attacks } from '../hostile/attacks/index.js';
import { greatest, numbered } from '../hostile/greatest.js';
import { declaredOperations } from '../support/http/answers.js';
import type { Schema } from '../support/http/places.js';

/** Where no database was asked, there are no picklists, currencies and countries. */
const ofReferenceData = /must be (?:one of: |a currency|a country)|names no currency|^see /;

/** Why a body does not fit its schema, but for what only a database knows. */
function faultsOf(schema: Parameters<typeof validate>[0], text: string): string[] {
  try {
    validate(schema, parseJson(text));
    return [];
  } catch (error) {
    return (error as Error).message.split('; ').filter((each) => !ofReferenceData.test(each));
  }
}

describe('npm run test:hostile', () => {
  const attacked = new Set(attacks.flatMap(({ operations = [] }) => operations));

  for (const { id, body, bodyMax = 1024 * 1024, example } of declaredOperations) {
    it(`sends the most expensive request that ${id} allows`, () => {
      expect(attacked.has(id), `No attack of test/hostile/attacks names ${id}.`).to.equal(true);
      if (body === undefined) return;
      const text = greatest(body as unknown as Schema, '', bodyMax * 0.9, example) ?? '';
      const whole = numbered(text, 'abcdefgh1');
      expect(Buffer.byteLength(whole)).to.be.at.most(bodyMax);
      // An id of the other tenant's or the example's own is put in where the body is sent.
      const faults = faultsOf(body, whole).filter((fault) => !fault.includes('or the id of one'));
      expect(faults.slice(0, 5)).to.deep.equal([]);
    });
  }

  it('names no operation that is none', () => {
    const declared = new Set(declaredOperations.map(({ id }) => id));
    expect([...attacked].filter((id) => !declared.has(id))).to.deep.equal([]);
  });

  it('names every attack once', () => {
    const names = attacks.map(({ name }) => name);
    expect(names).to.deep.equal([...new Set(names)]);
  });
});
