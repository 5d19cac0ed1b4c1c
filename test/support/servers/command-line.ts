import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { TestInstance } from './instance.js';

/** As people run it: compiled, which starts in half of the processor time. */
const program = fileURLToPath(new URL('../../../bin/durabill.js', import.meta.url));

/** How a command ended, and what it printed. */
export interface EndedCommand {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** The settings with which a command works on the data of an instance. */
export const settingsOf = ({ databaseUrl, platform }: TestInstance) => ({
  DATABASE_URL: databaseUrl,
  SECRET_KEY: platform.config.secret.toString('base64'),
});

/** Runs `durabill` with these settings and words, in a process of its own. */
export const runDurabill = (
  settings: Readonly<Record<string, string>>,
  ...words: readonly string[]
): Promise<EndedCommand> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, ...words],
      { env: { ...process.env, ...settings } },
      (error, output, errors) => resolve({ code: error ? Number(error.code) : 0, output, errors }),
    );
  });

/** Starts a command that goes on until it is stopped, and hears what it prints. */
export function startDurabill(
  settings: Readonly<Record<string, string>>,
  ...words: readonly string[]
): { readonly child: ChildProcess; readonly output: () => string } {
  const child = spawn(process.execPath, [program, ...words], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  return { child, output: () => output };
}
