import { expect } from 'chai';
import { tellingWord } from '../../src/queries/lists/search.js';

const cases: readonly (readonly [string, string | undefined])[] = [
  // Words that stand before every number tell nothing.
  ['Account 48291', '48291'],
  ['txn-482913', '482913'],
  ['INV_2026/000017', '000017'],
  ['%48291', undefined],
  // Of one word the whole is looked up, with what stands around it.
  ['48291', undefined],
  ['txn482913', undefined],
  // Without a number there is no telling which word is rare.
  ['acme widgets', undefined],
  // Too short for an index.
  ['Account 12', undefined],
  ['a1 b2 c3d', 'c3d'],
  // In any script; the dash between them is no part of a word.
  ['клиент-٤٨٢٩', '٤٨٢٩'],
  ['', undefined],
  ['-- %% __', undefined],
];

describe('the word by which a search asks an index', () => {
  for (const [text, word] of cases) {
    it(`is ${word ?? 'none'} in '${text}'`, () => {
      expect(tellingWord(text)).to.equal(word);
    });
  }
});
