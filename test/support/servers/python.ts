import { spawn, type SpawnOptions } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defined } from '../../../src/kernel/defined.js';
import { childEnvironment } from '../../../src/platform/config/config.js';
import { errorCode, StartupError } from '../../../src/platform/startup-error.js';

interface RunOptions {
  readonly signal: AbortSignal;
  /** Where it works and leaves what it leaves. */
  readonly folder?: string;
  /** Whether what the program prints is shown; else it is the error when it fails. */
  readonly isShown?: boolean;
}

/** Runs a program to its end; resolves with its exit code and what it printed. */
export async function runToEnd(
  command: string,
  args: readonly string[],
  { signal, folder, isShown = false }: RunOptions,
): Promise<{ code: number; output: string }> {
  const options: SpawnOptions = {
    signal,
    ...defined({ cwd: folder }),
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

async function requirePython(signal: AbortSignal, what: string): Promise<void> {
  const test = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))';
  const needed = `${what} needs python3, version 3.10 or newer, with the modules venv and ensurepip`;
  try {
    const { code, output } = await runToEnd('python3', ['-c', test], { signal });
    if (code !== 0) throw new StartupError(`${needed}: ${lastLine(output) || 'it is older'}.`);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw new StartupError(`${needed}: there is no python3 on PATH.`);
  }
}

interface PythonTools {
  /** Who needs them, for what is said when there is no Python. */
  readonly what: string;
  /** With their versions, as pip takes them; the first one names the folder. */
  readonly packages: readonly [string, ...string[]];
}

interface InstallOptions {
  readonly tell: (text: string) => void;
  readonly signal: AbortSignal;
}

/**
 * The folder with the programs of these packages, in a virtual environment in the cache folder that is
 * made when it is missing. pip takes them from whatever index this machine is set up for.
 */
export async function installPythonTools(
  cacheDir: string,
  { what, packages }: PythonTools,
  { tell, signal }: InstallOptions,
): Promise<string> {
  const folder = join(cacheDir, packages[0].replace('==', '-'));
  const bin = join(folder, process.platform === 'win32' ? 'Scripts' : 'bin');
  // Written last: a folder without it was left by an installation that did not end.
  const marker = join(folder, 'installed');
  if ((await readFile(marker, 'utf8').catch(() => '')) === packages.join(' ')) return bin;
  await requirePython(signal, what);
  tell(`installing ${packages.join(' and ')} into ${folder}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(cacheDir, { recursive: true });
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input'];
  const steps = [
    ['make a virtual environment', 'python3', ['-m', 'venv', folder]],
    [
      `install ${packages.join(' and ')} (is the package index of this machine reachable?)`,
      join(bin, 'python'),
      [...pip, ...packages],
    ],
  ] as const;
  for (const [step, command, args] of steps) {
    const { code, output } = await runToEnd(command, args, { signal });
    if (code !== 0) throw new StartupError(`Cannot ${step}: ${lastLine(output)}`);
  }
  await writeFile(marker, packages.join(' '));
  return bin;
}
