import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { firstLine, StartupError } from '../../src/platform/startup-error.js';
import { installPythonTools, runToEnd } from '../support/servers/python.js';

/** The release that `npm run test:fuzz` was written for; its options and checks change with it. */
const schemathesisVersion = '4.32.5';

/** The schemathesis program, which installs itself into the cache folder. */
export async function findSchemathesis(
  cacheDir: string,
  options: { tell: (text: string) => void; signal: AbortSignal },
): Promise<string> {
  const bin = await installPythonTools(
    cacheDir,
    { what: 'test:fuzz', packages: [`schemathesis==${schemathesisVersion}`] },
    options,
  );
  return join(bin, 'schemathesis');
}

/** What a run has found, by operation. */
export interface Findings {
  readonly tested: number;
  readonly failed: number;
}

interface Report {
  readonly operations: { readonly tested: number; readonly errored: number };
  readonly phases: Readonly<Record<string, { readonly status: string }>>;
  readonly failures: readonly { readonly operations: readonly string[] }[];
}

/** The label under which failures of sequences of operations are reported. */
const sequences = 'Stateful tests';

/** Counts each operation once, and all sequences of operations as one. */
function readFindings(text: string, exitCode: number): Findings {
  const { operations, phases, failures } = JSON.parse(text) as Report;
  const failed = new Set(failures.flatMap((failure) => failure.operations));
  const { stateful } = phases;
  const hasSequences =
    failed.has(sequences) || stateful?.status === 'success' || stateful?.status === 'failure';
  const found = failed.size + operations.errored;
  // A run can also fail as a whole.
  const failedCount = exitCode !== 0 && found === 0 ? 1 : found;
  const tested = operations.tested + operations.errored + (hasSequences ? 1 : 0);
  return { tested: Math.max(tested, failedCount), failed: failedCount };
}

/** Runs schemathesis in a folder of its own, with its progress and findings on the screen. */
export async function runSchemathesis(
  program: string,
  args: readonly string[],
  { folder, signal }: { folder: string; signal: AbortSignal },
): Promise<Findings> {
  const reportPath = join(folder, 'report.json');
  const { code } = await runToEnd(
    program,
    [...args, '--report', 'json', '--report-json-path', reportPath],
    { signal, folder, isShown: true },
  );
  const text = await readFile(reportPath, 'utf8').catch((error: unknown) => {
    throw new StartupError(`schemathesis ended with ${code} and no report: ${firstLine(error)}`);
  });
  return readFindings(text, code);
}
