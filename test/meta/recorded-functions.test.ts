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
});
