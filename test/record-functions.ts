/** Writes each function of the database as it is now: npm run record-functions (docs/decisions/0495). */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { functionsFolder, readFunctions } from './support/servers/recorded-functions.js';
import { createTestDatabase, stopTestServers } from './support/servers/servers.js';

try {
  const functions = await readFunctions(await createTestDatabase());
  await rm(functionsFolder, { recursive: true, force: true });
  await mkdir(functionsFolder);
  for (const [file, text] of functions) await writeFile(`${functionsFolder}${file}`, text);
  process.stdout.write(`${functions.size} functions\n`);
} finally {
  await stopTestServers();
}
