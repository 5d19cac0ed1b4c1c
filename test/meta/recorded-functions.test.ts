import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { functionsFolder, readFunctions } from '../support/servers/recorded-functions.js';
import { createTestDatabase } from '../support/servers/servers.js';

describe('migrations/functions', () => {
  it('has each function of the database with its triggers, as the migrations leave it', async () => {
    const functions = await readFunctions(await createTestDatabase());
    const files = readdirSync(functionsFolder);
    expect(files.sort(), 'npm run record-functions').to.deep.equal([...functions.keys()].sort());
    for (const file of files) {
      const text = readFileSync(`${functionsFolder}${file}`, 'utf8');
      expect(text, `npm run record-functions: ${file}`).to.equal(functions.get(file));
    }
  });

  it('has each function that ARCHITECTURE.md names', () => {
    const text = readFileSync(new URL('../../ARCHITECTURE.md', import.meta.url), 'utf8');
    const [, table = ''] = text.split(
      '| `migrations/functions/` | What relies on it |\n|---|---|\n',
    );
    const [rows = ''] = table.split('\n\n');
    const named = rows
      .split('\n')
      .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)])
      .map(([, name = '']) => `${name}.sql`);
    expect(named).to.have.length.above(40);
    const files = readdirSync(functionsFolder);
    expect(named.filter((name) => !files.includes(name))).to.deep.equal([]);
  });
});
