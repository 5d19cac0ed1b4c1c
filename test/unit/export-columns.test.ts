import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { exportColumns } from '../../src/schemas/exports/export.js';

describe('the chapter on exports', () => {
  const text = readFileSync(new URL('../../docs/guide/exports.md', import.meta.url), 'utf8');
  for (const [kind, columns] of Object.entries(exportColumns)) {
    it(`has the columns of ${kind} in their order`, () => {
      const [, after = ''] = text.split(`\n### ${kind}\n`);
      const [own = ''] = after.split(/\n##/);
      const rows = [...own.matchAll(/^\| (\w+) \| ([\w ]+) \| (.*) \|$/gm)].slice(1);
      const expected = Object.entries(columns).map(([name, { type, isNullable, description }]) => [
        name,
        (type === 'name' ? 'text' : type) + (isNullable ? ' or null' : ''),
        description,
      ]);
      expect(rows.map(([, ...cells]) => cells)).to.deep.equal(expected);
    });
  }
});
