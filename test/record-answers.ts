/** Writes the examples of answers in `/openapi.json`: npm run record-answers (docs/decisions/0254). */
import { writeFile } from 'node:fs/promises';
import { format } from 'prettier';
import { openTestInstance } from './support/servers/instance.js';
import { recordAnswers } from './support/http/recorded-answers.js';
import { stopTestServers } from './support/servers/servers.js';

const path = new URL('../src/schemas/openapi/answers.json', import.meta.url);

const instance = await openTestInstance({ isPublic: true });
try {
  const answers = await recordAnswers(instance);
  await writeFile(path, await format(JSON.stringify(answers), { parser: 'json', printWidth: 100 }));
  process.stdout.write(`${Object.keys(answers).length} answers\n`);
} finally {
  await instance.close();
  await stopTestServers();
}
