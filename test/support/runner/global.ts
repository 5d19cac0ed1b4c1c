import { getPriority, setPriority } from 'node:os';
import { resolve } from 'node:path';
import fc from 'fast-check';
import { readConfig } from '../../../src/platform/config/config.js';
import { serversBehind } from '../../../src/embedded/spawn.js';
import { findTemporal } from '../../../src/embedded/temporal-program.js';
import { checkCoverage, noteAnswers } from './coverage.js';
import { noteTestFile } from '../servers/pooled-tests.js';
import { dropTestDatabases, shareTestServers, stopTestServers } from '../servers/servers.js';
import { startWorkflowThreadsPlain } from './workflow-threads.js';

// Mocha prints no causes: without its error a counterexample says nothing about a fault that comes once.
fc.configureGlobal({ includeErrorInReport: true });
startWorkflowThreadsPlain();

export const mochaHooks = {
  /** Before the tests of a file: those of the one before it in this process are over. */
  async beforeAll(this: Mocha.Context): Promise<void> {
    // As far behind as the servers that tests wait for (docs/decisions/0481): beside other test files those
    // came to nothing. Their servers were started before; only root may step forward again.
    if (getPriority() < serversBehind) setPriority(serversBehind);
    noteTestFile(this.test?.parent?.suites[0]?.file ?? '');
    await dropTestDatabases();
  },
};

/** The test files of which a test has ended. */
const filesRun = new Set<string>();

/**
 * Called by mocha before the first test, in the process that hands test files to others: they share
 * the servers that it starts. A machine without a Temporal server fetches or builds one, which takes
 * minutes and so must not happen under the time limit of a test.
 */
export async function mochaGlobalSetup(this: Mocha.Runner): Promise<void> {
  const { cacheDir, searchPath } = readConfig(process.env);
  await findTemporal({
    cacheDir,
    searchPath,
    onProgress: (text) => process.stderr.write(`Temporal server: ${text}\n`),
  });
  try {
    await shareTestServers();
    await noteAnswers();
  } catch (error) {
    // Mocha calls no teardown of what could not be set up.
    await stopTestServers();
    throw error;
  }
  this.on('test end', ({ file }) => {
    if (file !== undefined) filesRun.add(resolve(file));
  });
}

/** Called by mocha after the last test; what it throws counts as one more failed test. */
export async function mochaGlobalTeardown(): Promise<void> {
  await stopTestServers();
  await checkCoverage(filesRun);
}
