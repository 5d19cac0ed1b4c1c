import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve, sep } from 'node:path';
import { errorStatuses } from '../../../src/schemas/http/error-statuses.js';
import { answersFile, declaredOperations } from '../http/answers.js';

const testFolder = resolve(import.meta.dirname, '../..');

/** From here on, the processes of this run write down what operations have answered. */
export async function noteAnswers(): Promise<void> {
  process.env[answersFile] = join(await mkdtemp(join(tmpdir(), 'durabill-answers-')), 'seen');
}

/** The files that `npm test` runs: all but those of the folders that it says it ignores. */
export async function filesOfWholeRun(): Promise<string[]> {
  const packageFile = await readFile(resolve(testFolder, '../package.json'), 'utf8');
  const { scripts } = JSON.parse(packageFile) as { scripts: { test: string } };
  const ignored = /--ignore 'test\/\{([\w,]+)\}\/\*\*'/.exec(scripts.test)?.[1]?.split(',');
  if (!ignored)
    throw new Error('package.json: the script "test" does not say which folders it ignores');
  return readdirSync(testFolder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') && !ignored.includes(path.split(sep)[0] ?? ''))
    .map((path) => join(testFolder, path));
}

/** Whether this run had all that `npm test` runs: only then is something missing a fault. */
async function isWholeRun(filesRun: ReadonlySet<string>): Promise<boolean> {
  const isNarrowed = process.argv.some((argument) => /^(?:-g|-f|--grep|--fgrep)\b/.test(argument));
  return !isNarrowed && (await filesOfWholeRun()).every((file) => filesRun.has(file));
}

/**
 * Throws, after the last test of a whole run, when no test has seen an answer that an operation
 * declares.
 */
export async function checkCoverage(filesRun: ReadonlySet<string>): Promise<void> {
  const file = process.env[answersFile] ?? '';
  const seen = new Set((await readFile(file, 'utf8').catch(() => '')).split('\n'));
  await rm(dirname(file), { recursive: true });
  if (!(await isWholeRun(filesRun))) return;
  const unseen = declaredOperations.flatMap((operation) => {
    const { id, method, path, success } = operation;
    const missing = [success.status, ...errorStatuses(operation)].filter(
      (status) => !seen.has(`${id} ${status}`),
    );
    return missing.length === 0 ? [] : [`${id} (${method} ${path}): ${missing.join(', ')}`];
  });
  if (unseen.length === 0) return;
  throw new Error(`No test has seen these answers:\n${unseen.join('\n')}`);
}
