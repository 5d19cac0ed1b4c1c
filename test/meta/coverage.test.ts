import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { errorStatuses } from '../../src/schemas/operation.js';
import { declaredOperations, seenStatuses } from '../support/answers.js';

const testFolder = resolve(import.meta.dirname, '..');

/** Every test file of the repository, as the run began. */
const testFiles = readdirSync(testFolder, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => join(testFolder, path));

/** Whether this run has every test of the repository: only then is something missing a fault. */
function isWholeRun(root: Mocha.Suite): boolean {
  const isNarrowed = process.argv.some((argument) => /^(?:-g|-f|--grep|--fgrep)\b/.test(argument));
  const loaded = new Set(root.suites.map(({ file }) => file));
  return !isNarrowed && testFiles.every((file) => loaded.has(file));
}

/** What no test of this run has seen an operation answer. */
function unseen(): string[] {
  return declaredOperations.flatMap((operation) => {
    const seen = seenStatuses(operation);
    const missing = [operation.success.status, ...errorStatuses(operation)].filter(
      (status) => !seen.has(status),
    );
    const { id, method, path } = operation;
    return missing.length === 0 ? [] : [`${id} (${method} ${path}): ${missing.join(', ')}`];
  });
}

describe('coverage of the declarations', () => {
  it('is checked after the last test of a whole run', () => {
    expect(declaredOperations).to.not.be.empty;
  });
});

// A hook of the root suite: it runs after every test of every file.
after('each operation has given each answer that it declares', function () {
  const root = this.test?.parent;
  if (!root || !isWholeRun(root)) return;
  const missing = unseen();
  if (missing.length > 0) {
    throw new Error(`No test has seen these answers:\n${missing.join('\n')}`);
  }
});
