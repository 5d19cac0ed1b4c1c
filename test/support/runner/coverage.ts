import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { errorStatuses } from '../../../src/schemas/http/error-statuses.js';
import { answersFile, declaredOperations } from '../http/answers.js';

const testFolder = resolve(import.meta.dirname, '../..');

/** From here on, the processes of this run write down what operations have answered. */
export async function noteAnswers(): Promise<void> {
  process.env[answersFile] = join(await mkdtemp(join(tmpdir(), 'durabill-answers-')), 'seen');
}

/** Whether this run had all that `npm test` runs: only then is something missing a fault. */
function isWholeRun(filesRun: ReadonlySet<string>): boolean {
  const isNarrowed = process.argv.some((argument) => /^(?:-g|-f|--grep|--fgrep)\b/.test(argument));
  const testFiles = readdirSync(testFolder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') && !/^(?:fault|pooler|production)\b/.test(path))
    .map((path) => join(testFolder, path));
  return !isNarrowed && testFiles.every((file) => filesRun.has(file));
}

/**
 * Throws, after the last test of a whole run, when no test has seen an answer that an operation
 * declares.
 */
export async function checkCoverage(filesRun: ReadonlySet<string>): Promise<void> {
  const file = process.env[answersFile] ?? '';
  const seen = new Set((await readFile(file, 'utf8').catch(() => '')).split('\n'));
  await rm(dirname(file), { recursive: true });
  if (!isWholeRun(filesRun)) return;
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
