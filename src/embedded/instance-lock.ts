import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { dataFile, readText, unwritable, writeWhole } from '../platform/data-folder.js';
import { identify, isSameProcess, type ProcessIdentity } from './processes.js';
import { StartupError, errorCode } from '../platform/startup-error.js';

/** Raised when a data folder of this version can no longer be read by an older Durabill. */
export const DATA_FORMAT = 1;

/** What is known about the instance of a data folder: addresses while it runs, ports for ever. */
export interface Instance {
  format: number;
  state: 'starting' | 'ready' | 'stopping' | 'stopped';
  apiUrl: string | null;
  databaseUrl: string | null;
  temporalAddress: string | null;
  temporalNamespace: string | null;
  temporalUiUrl: string | null;
  ports: { postgres?: number; temporal?: number; temporalUi?: number };
}

export interface InstanceLock {
  release: () => Promise<void>;
}

const EMPTY: Instance = {
  format: DATA_FORMAT,
  state: 'stopped',
  apiUrl: null,
  databaseUrl: null,
  temporalAddress: null,
  temporalNamespace: null,
  temporalUiUrl: null,
  ports: {},
};

/** How long a holder that is just dying may take before a second start gives up. */
const GRACE_MS = 1500;
/** How long one that said that it is draining may take: the time limit of a drain, and a little. */
const DRAIN_MS = 22_000;

/**
 * The instance of this folder, and whether the process that owns it runs. For the commands that
 * talk to a running instance (`token`, `tenant`, ...) and for processes that join its servers.
 */
export async function readInstance(
  dataDir: string,
): Promise<(Instance & { isRunning: boolean }) | undefined> {
  const kept = await readKept(dataDir);
  if (kept === undefined) return undefined;
  const holder = await readHolder(dataDir);
  return { ...EMPTY, ...kept, isRunning: holder !== undefined && isSameProcess(holder) };
}

const turns = new Map<string, Promise<unknown>>();

/** Changes what is kept. One change at a time: PostgreSQL and Temporal start side by side. */
export async function updateInstance(
  dataDir: string,
  change: (kept: Instance) => Partial<Instance>,
): Promise<void> {
  const turn = (turns.get(dataDir) ?? Promise.resolve()).then(async () => {
    const kept = { ...EMPTY, ...(await readKept(dataDir)) };
    const next: Instance = { ...kept, ...change(kept), format: DATA_FORMAT };
    await writeWhole(dataFile.instance(dataDir), `${JSON.stringify(next, null, 2)}\n`);
  });
  turns.set(
    dataDir,
    turn.catch(() => undefined),
  );
  return turn;
}

/** Stops the start on a folder that a newer Durabill has written. */
export async function refuseNewerFormat(dataDir: string): Promise<void> {
  const format = (await readKept(dataDir))?.format;
  if (format !== undefined && format > DATA_FORMAT) {
    throw new StartupError(
      `The data folder ${dataDir} was written by a newer Durabill (format ${format}; this one ` +
        `knows ${DATA_FORMAT}). Start the newer version, or set DATA_DIR to another folder.`,
    );
  }
}

/**
 * Makes this process the one that owns the folder's embedded servers, or returns undefined when
 * another living process is. Waits a moment for one that is dying, and longer for one that drains.
 */
export async function acquireInstanceLock(
  dataDir: string,
  onProgress: (text: string) => void = () => undefined,
): Promise<InstanceLock | undefined> {
  const since = Date.now();
  for (;;) {
    const lock = await tryLock(dataDir);
    if (lock !== undefined) return lock;
    const isDraining = (await readKept(dataDir))?.state === 'stopping';
    if (isDraining) onProgress('waiting for the previous instance to finish its work');
    if (Date.now() - since > (isDraining ? DRAIN_MS : GRACE_MS)) return undefined;
    await sleep(100);
  }
}

/** The sentence for a second start on one folder. */
export async function alreadyRunning(dataDir: string): Promise<StartupError> {
  const pid = (await readHolder(dataDir))?.pid;
  const apiUrl = (await readKept(dataDir))?.apiUrl;
  return new StartupError(
    `Durabill already runs on the data folder ${dataDir}` +
      `${pid === undefined ? '' : ` (process ${pid}${apiUrl ? `, ${apiUrl}` : ''})`}: ` +
      'stop it, or set DATA_DIR and PORT for a second instance.',
  );
}

/**
 * One attempt. The lock is a file that appears as a whole (link fails when it is there) and names
 * its holder with the time of its birth, so that neither a killed holder nor a reused process
 * number blocks for ever. A stale one is taken away by renaming: of several that try, one succeeds.
 */
async function tryLock(dataDir: string): Promise<InstanceLock | undefined> {
  const path = dataFile.lock(dataDir);
  const nonce = randomBytes(8).toString('hex');
  const own = `${JSON.stringify({ ...identify(process.pid), nonce })}\n`;
  const part = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const release = async (): Promise<void> => {
    if ((await readText(path)) === own) await rm(path, { force: true });
  };
  try {
    await writeFile(part, own, { mode: 0o600 });
    if (await linked(part, path)) return { release };
    const found = await readText(path);
    if (found === undefined) return undefined;
    const holder = parseHolder(found);
    if (holder !== undefined && isSameProcess(holder)) return undefined;
    const stale = `${part}.stale`;
    await rename(path, stale);
    const isWhatWasFound = (await readFile(stale, 'utf8')) === found;
    // Another one was quicker and this is its fresh lock: give it back.
    if (!isWhatWasFound) await linked(stale, path);
    await rm(stale, { force: true });
    return isWhatWasFound && (await linked(part, path)) ? { release } : undefined;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw unwritable(dataDir, error);
  } finally {
    await rm(part, { force: true });
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

async function readHolder(dataDir: string): Promise<ProcessIdentity | undefined> {
  const text = await readText(dataFile.lock(dataDir));
  return text === undefined ? undefined : parseHolder(text);
}

/** The process that owns the folder's servers; undefined while none does. */
export async function findHolder(dataDir: string): Promise<ProcessIdentity | undefined> {
  const holder = await readHolder(dataDir);
  return holder !== undefined && isSameProcess(holder) ? holder : undefined;
}

function parseHolder(text: string): ProcessIdentity | undefined {
  const value = parseJson(text);
  const isHolder = typeof value?.['pid'] === 'number' && typeof value['birth'] === 'string';
  return isHolder ? (value as unknown as ProcessIdentity) : undefined;
}

async function readKept(dataDir: string): Promise<Partial<Instance> | undefined> {
  const text = await readText(dataFile.instance(dataDir));
  return text === undefined ? undefined : parseJson(text);
}

/** An object, or undefined for anything else: a damaged file counts as none. */
function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
