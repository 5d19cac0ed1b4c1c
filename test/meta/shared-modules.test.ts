import { readdir, readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { expect } from 'chai';

const folder = 'src/workflows';
const shared = 'runtime/shared-modules.ts';

/** What a source file imports from other folders of the sources while it runs: types are gone by then. */
async function importedBy(name: string): Promise<string[]> {
  const text = await readFile(join(folder, name), 'utf8');
  const imported = /^(?:import|export) (?!type )(?:[^'"]*? from )?'(\.{1,2}\/[^']+)'/gm;
  return [...text.matchAll(imported)]
    .map(([, path = '']) => posix.join(folder, posix.dirname(name), path))
    .filter((path) => !path.startsWith(`${folder}/`));
}

// docs/decisions/0488
describe('modules of workflows', () => {
  it('that keep nothing of an execution are loaded once for all of them', async () => {
    const names = await readdir(folder, { recursive: true });
    const sources = names.filter((name) => name.endsWith('.ts') && name !== shared);
    const needed = new Set((await Promise.all(sources.map(importedBy))).flat());
    const loaded = await importedBy(shared);
    expect(needed.size).to.be.greaterThan(10);
    expect([...needed].filter((path) => !loaded.includes(path))).to.deep.equal([]);
    expect(
      loaded.filter((path) => !/^src\/(interpreter|kernel|messages)\//.test(path)),
    ).to.deep.equal([]);
  });
});
