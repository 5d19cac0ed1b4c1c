import { watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { ApiClient } from '../moving-in/api-client.js';
import { checkFile } from './check-file.js';
import { faultLines } from './definition-file.js';
import type { ValidateOptions } from './workflow.js';

/** Editors write a file in several steps. */
const settleMs = 100;

/** Checks a file, prints what is wrong with it, and says whether nothing is. */
async function validateFile(file: string, api: ApiClient | undefined): Promise<boolean> {
  try {
    const { faults } = await checkFile(file, api);
    if (faults.length === 0) console.log(`${file}: valid`);
    else console.log(faultLines(file, faults).join('\n'));
    return faults.length === 0;
  } catch (error) {
    console.log(`${file}: ${error instanceof Error ? error.message : String(error)}`);
    return false;
  }
}

/** Checks a file again whenever it changes; its folder is watched, since editors replace files. */
function watchFile(file: string, api: ApiClient | undefined): void {
  let waiting: NodeJS.Timeout | undefined;
  watch(dirname(file), (_event, name) => {
    if (name !== null && name !== basename(file)) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      console.log(`\n${new Date().toISOString().slice(11, 19)}`);
      void validateFile(file, api);
    }, settleMs);
  });
}

/** Checks definitions, once or whenever they change. */
export async function validateFromTerminal(
  files: readonly string[],
  { tenant, watch: isWatching }: ValidateOptions,
): Promise<void> {
  const api = tenant === undefined ? undefined : await ApiClient.open(tenant);
  let areValid = true;
  for (const file of files) areValid = (await validateFile(file, api)) && areValid;
  if (isWatching !== true) {
    if (!areValid) process.exitCode = 1;
    return;
  }
  for (const file of files) watchFile(file, api);
  console.log('\nWaiting for changes; Ctrl+C ends.');
}
