import { relative, resolve, sep } from 'node:path';

/**
 * The variable that puts PgBouncer before PostgreSQL: `all` for every test of a run, `listed` for those
 * listed here, while the others connect to PostgreSQL itself. `listed` needs mocha's `--parallel`, which
 * runs one file after the other in a process.
 */
const variable = 'TEST_POOLER';

/** Folders and files of `test`, as they begin. */
const listed = [
  'api/',
  'isolation/',
  'fault/abandoned-request',
  'fault/time-limits',
  'scenario/billing-run',
  'scenario/first-bill',
  'workflow/execution',
  'workflow/flow',
];

const testFolder = resolve(import.meta.dirname, '../..');

let isListed = false;

/** Called before the tests of a file. */
export function noteTestFile(file: string): void {
  const path = relative(testFolder, file).split(sep).join('/');
  isListed = listed.some((beginning) => path.startsWith(beginning));
}

/** Whether any test of this run may go through a pooler. */
export const hasPooler = (): boolean => process.env[variable] !== undefined;

/** Whether the instances of the tests that now run go through it. */
export const isPooled = (): boolean => process.env[variable] === 'all' || (hasPooler() && isListed);
