import { spawn } from 'node:child_process';
import { open, rename, stat } from 'node:fs/promises';
import { childEnvironment } from '../platform/config/config.js';
import { identify, type ProcessIdentity } from './processes.js';
import type { ServerUser } from './postgres-programs.js';
import type { RunningServer } from './supervise.js';

/** Logs larger than this begin anew at the next start; the last one is kept beside it. */
const LOG_MAX_BYTES = 10 * 1024 * 1024;

/**
 * How far servers come behind the product for the processors of one machine: each message to one of them
 * wakes it, and it would take the processor from whoever serves all tenants (docs/decisions/0481).
 */
export const serversBehind = 5;

interface SpawnOptions extends Partial<ServerUser> {
  args: readonly string[];
  cwd: string;
}

export interface DetachedServer extends RunningServer {
  hasExited: () => boolean;
  /** Where in the log file the output of this run begins. */
  logStart: number;
}

/** What the program makes, from its first file on, is for its own user. */
function withClosedFiles<T>(start: () => T): T {
  const before = process.umask(0o077);
  try {
    return start();
  } finally {
    process.umask(before);
  }
}

/**
 * Starts a server in a session of its own, so that Ctrl-C in the terminal reaches only Node, which
 * finishes its work first and stops the server then. Its output goes to a file, because a pipe
 * would end, and with it perhaps the server, when Node is killed.
 */
export async function startDetached(
  program: string,
  { args, cwd, logFile, ...user }: SpawnOptions & { logFile: string },
): Promise<DetachedServer> {
  const size = (await stat(logFile).catch(() => undefined))?.size ?? 0;
  if (size > LOG_MAX_BYTES) await rename(logFile, `${logFile}.1`);
  const log = await open(logFile, 'a', 0o600);
  try {
    const logStart = (await log.stat()).size;
    const child = withClosedFiles(() =>
      spawn('nice', ['-n', String(serversBehind), program, ...args], {
        ...user,
        cwd,
        detached: true,
        stdio: ['ignore', log.fd, log.fd],
        env: childEnvironment({ LC_ALL: 'C', TZ: 'UTC' }),
      }),
    );
    let isOver = false;
    const exited = new Promise<void>((resolve) => {
      const end = (): void => {
        isOver = true;
        resolve();
      };
      child.once('exit', end);
      child.once('error', end);
    });
    child.unref();
    const pid = child.pid;
    if (pid === undefined) throw new Error(`cannot start ${program}`);
    const known: ProcessIdentity = identify(pid) ?? { pid, birth: '' };
    return { process: known, exited, hasExited: () => isOver, logStart };
  } finally {
    await log.close();
  }
}

/** What was written to a log file since that position (its last 8 KiB at most). */
export async function logTail(path: string, from: number): Promise<string> {
  const log = await open(path, 'r');
  try {
    const { size } = await log.stat();
    const start = Math.max(from, size - 8192);
    const buffer = Buffer.alloc(Math.max(size - start, 0));
    await log.read(buffer, 0, buffer.length, start);
    return buffer.toString('utf8');
  } finally {
    await log.close();
  }
}

/** Runs a program to its end; rejects with the last line that it said when it fails. */
export async function runProgram(
  program: string,
  { args, cwd, descriptor, ...user }: SpawnOptions & { descriptor?: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      ...user,
      cwd,
      // The program finds an open file, where one is passed, as descriptor 3.
      stdio: ['ignore', 'ignore', 'pipe', descriptor ?? 'ignore'],
      env: childEnvironment({ LC_ALL: 'C', TZ: 'UTC' }),
    });
    let stderr = '';
    child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(/error: .*/.exec(stderr)?.[0] ?? stderr.trim().split('\n').at(-1)));
    });
  });
}
