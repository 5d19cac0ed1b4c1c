import { spawn, type SpawnOptions } from 'node:child_process';
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { childEnvironment } from '../../src/platform/config.js';
import { errorCode, firstLine, StartupError } from '../../src/platform/embedded/startup-error.js';

/** The release that `npm run test:fuzz` was written for; its options and checks change with it. */
const schemathesisVersion = '4.32.5';

interface RunOptions {
  readonly signal: AbortSignal;
  /** Where it works and leaves what it leaves. */
  readonly folder?: string;
  /** Whether what the program prints is shown; else it is the error when it fails. */
  readonly isShown?: boolean;
}

/** Runs a program to its end; resolves with its exit code. */
async function runToEnd(
  command: string,
  args: readonly string[],
  { signal, folder, isShown = false }: RunOptions,
): Promise<{ code: number; output: string }> {
  const options: SpawnOptions = {
    signal,
    ...(folder === undefined ? {} : { cwd: folder }),
    env: childEnvironment({ PYTHONUNBUFFERED: '1' }),
    stdio: isShown ? 'inherit' : ['ignore', 'pipe', 'pipe'],
  };
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, options);
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

/** The last line that says something: where Python tools put the reason. */
const lastLine = (output: string): string => output.trim().split('\n').at(-1) ?? '';

async function requirePython(signal: AbortSignal): Promise<void> {
  const test = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))';
  const what =
    'test:fuzz needs python3, version 3.10 or newer, with the modules venv and ensurepip';
  try {
    const { code, output } = await runToEnd('python3', ['-c', test], { signal });
    if (code !== 0) throw new StartupError(`${what}: ${lastLine(output) || 'it is older'}.`);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw new StartupError(`${what}: there is no python3 on PATH.`);
  }
}

/**
 * The schemathesis program, in a virtual environment in the cache folder that is made when it is
 * missing. pip takes it from whatever index this machine is set up for.
 */
export async function findSchemathesis(
  cacheDir: string,
  { tell, signal }: { tell: (text: string) => void; signal: AbortSignal },
): Promise<string> {
  const folder = join(cacheDir, `schemathesis-${schemathesisVersion}`);
  const bin = join(folder, process.platform === 'win32' ? 'Scripts' : 'bin');
  const program = join(bin, 'schemathesis');
  // Written last: a folder without it was left by an installation that did not end.
  const marker = join(folder, 'installed');
  if ((await readFile(marker, 'utf8').catch(() => '')) === schemathesisVersion) {
    await access(program);
    return program;
  }
  await requirePython(signal);
  tell(`installing schemathesis ${schemathesisVersion} into ${folder}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(cacheDir, { recursive: true });
  const steps = [
    ['make a virtual environment', 'python3', ['-m', 'venv', folder]],
    [
      `install schemathesis ${schemathesisVersion} (is the package index of this machine reachable?)`,
      join(bin, 'python'),
      [
        ...['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input'],
        `schemathesis==${schemathesisVersion}`,
      ],
    ],
  ] as const;
  for (const [what, command, args] of steps) {
    const { code, output } = await runToEnd(command, args, { signal });
    if (code !== 0) throw new StartupError(`Cannot ${what}: ${lastLine(output)}`);
  }
  await writeFile(marker, schemathesisVersion);
  return program;
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
