import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { reach } from '../platform/configured-servers.js';

/**
 * A process, told apart from a later one that was given the same number: `birth` is when it was
 * started, in whatever form the system has it.
 */
export interface ProcessIdentity {
  pid: number;
  birth: string;
}

const PROC = process.platform === 'linux';

/** The process of that number, or undefined when there is none (one that only waits to be reaped is none). */
export function identify(pid: number): ProcessIdentity | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  if (!PROC) {
    const birth = askPs(pid, 'lstart=');
    return birth === undefined ? undefined : { pid, birth };
  }
  const text = readOrUndefined(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  // The second field is the program's name in parentheses and may hold spaces and parentheses.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  const state = fields?.[0];
  const startTime = fields?.[19];
  if (state === undefined || startTime === undefined || state === 'Z' || state === 'X') {
    return undefined;
  }
  return { pid, birth: `${bootId()}/${startTime}` };
}

export function isSameProcess(known: ProcessIdentity): boolean {
  return identify(known.pid)?.birth === known.birth;
}

/** The command line of a process as one text, for recognising a server of ours. */
export function commandLine(pid: number): string {
  if (!PROC) return askPs(pid, 'command=') ?? '';
  const text = readOrUndefined(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? '';
  return text.split('\0').join(' ').trim();
}

/** The living processes whose command line holds all of these texts. */
export function findProcesses(...texts: readonly string[]): ProcessIdentity[] {
  return listPids()
    .filter((pid) => {
      const command = commandLine(pid);
      return texts.every((text) => command.includes(text));
    })
    .map(identify)
    .filter((found) => found !== undefined);
}

function listPids(): number[] {
  const names = PROC
    ? readOrUndefined(() => readdirSync('/proc'))
    : readOrUndefined(() => execFileSync('ps', ['-axo', 'pid='], { encoding: 'utf8' }))?.split(
        '\n',
      );
  return (names ?? []).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
}

/** The working directory of a process; undefined where the system does not tell. */
export function workingDirectory(pid: number): string | undefined {
  return PROC ? readOrUndefined(() => readlinkSync(`/proc/${pid}/cwd`)) : undefined;
}

/** Sends a signal to a process that may be gone already. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone, which is what a signal to end it was for.
  }
}

/** Resolves with true when the process has ended, with false when it still runs after that time. */
export async function hasEnded(known: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (isSameProcess(known)) {
    if (Date.now() >= deadline) return false;
    await sleep(20);
  }
  return true;
}

/** Resolves when a process that is not our child has ended. Does not keep Node alive. */
export async function untilEnded(known: ProcessIdentity): Promise<void> {
  while (isSameProcess(known)) await sleep(200, undefined, { ref: false });
}

/** Whether a server listens on that port of the loopback interface. */
export async function isOpen(port: number): Promise<boolean> {
  return (await reach('127.0.0.1', port)) === undefined;
}

function bootId(): string {
  return (
    readOrUndefined(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'))?.trim() ?? ''
  );
}

function askPs(pid: number, column: string): string | undefined {
  const text = readOrUndefined(() =>
    execFileSync('ps', ['-o', column, '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  )?.trim();
  return text === '' ? undefined : text;
}

function readOrUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
