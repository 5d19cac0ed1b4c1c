import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { repository } from '../start/workbench.js';
import { filesOfWholeRun } from '../support/runner/coverage.js';

const testFolder = resolve(import.meta.dirname, '..');
const files = readdirSync(testFolder, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => join(testFolder, path));

describe('what no compiler sees of the tests', () => {
  it('leads to modules that are there, where a text is the program of another process', () => {
    const named = files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/'repository\/(src\/[\w./-]+)\.js'/g)].map(
        ([, module = '']) => ({ file, module }),
      ),
    );
    expect(named).to.have.length.above(5);
    const missing = named.filter(({ module }) => !existsSync(join(repository, `${module}.ts`)));
    expect(missing).to.deep.equal([]);
  });

  it('counts as a whole run what `npm test` runs', async () => {
    const whole = await filesOfWholeRun();
    const folders = new Set(whole.map((file) => file.slice(testFolder.length + 1).split('/')[0]));
    const mine = ['unit', 'api', 'meta', 'workflow', 'isolation', 'property', 'browser'];
    expect([...folders]).to.include.members(mine);
    expect([...folders].filter((name) => /^(?:fault|pooler|production|python)$/.test(name ?? '')))
      .to.be.empty;
  });
});
