import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { listsOf } from '../../bench/console/pages.js';
import type { Filled } from '../../bench/console/fill.js';
import { repository } from '../start/workbench.js';

/** The text of each file of a folder that ends so. */
const textsOf = (folder: string, ending: string): string[] =>
  readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => readFileSync(join(repository, folder, path), 'utf8'));

const found = (texts: readonly string[], pattern: RegExp): string[] =>
  texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name));

/** As a pattern: what a caption names of its table may be anything. */
const patternOf = (caption: string): RegExp =>
  new RegExp(`^${caption.replace(/[.*+?()|[\]\\]/g, '\\$&').replace(/\$\{[^}]*\}/g, '.+')}$`);

/** A bench is run seldom: a table that has another caption since it would only find then. */
describe('the tables whose times the bench of the console takes', () => {
  it('are found by captions that the console has', () => {
    const captions = found(textsOf('src/console', '.tsx'), /caption=(?:"|\{`)([^"`]+)["`]/g);
    const of = {} as Filled;
    const asked = [
      ...listsOf(of).map(([, , caption]) => caption),
      ...found(
        textsOf('bench/console', '.ts'),
        /(?:tableOf\(|find\('table', |table: |totals = )'([A-Z][^']+)'/g,
      ),
    ];
    expect(asked).to.have.length.above(20);
    const patterns = captions.map(patternOf);
    const missing = asked.filter((name) => !patterns.some((pattern) => pattern.test(name)));
    expect(missing).to.deep.equal([]);
  });
});
