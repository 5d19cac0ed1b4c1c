import { execFile } from 'node:child_process';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment } from '../platform/config/config.js';
import { unwritable } from '../platform/data-folder.js';
import { identify } from './processes.js';
import { StartupError, firstLine } from '../platform/startup-error.js';
import { onSearchPath, type Fetch, type FetchOptions } from './search-path.js';
import { buildWithGo } from './temporal-build.js';
import { foreignWriter, pinnedDigest, sha256Of } from './program-trust.js';
import { downloadWithSdk } from './temporal-download.js';

/** The release of the Temporal command line that this version was tested with: server 1.29. */
export const TEMPORAL_CLI_VERSION = 'v1.5.1';
const SERVER_MIN = [1, 29] as const;

export interface FindTemporalOptions {
  cacheDir: string;
  /** PATH, as this process has it. */
  searchPath: string;
  onProgress?: (text: string) => void;
  abort?: AbortSignal;
  /** For tests, which must not depend on a network. */
  download?: Fetch;
  build?: Fetch;
  pinned?: (version: string) => Promise<string | undefined>;
}

/**
 * The path of a Temporal server program that works: one on PATH, the cached one, the download of
 * Temporal's SDK, a build with Go; the last two are put into the cache folder.
 */
export async function findTemporal(options: FindTemporalOptions): Promise<string> {
  const { cacheDir, searchPath, onProgress = () => undefined } = options;
  const binDir = join(cacheDir, 'bin');
  const cached = join(binDir, process.platform === 'win32' ? 'temporal.exe' : 'temporal');
  for (const path of [...onSearchPath('temporal', searchPath), cached]) {
    const problem = await problemOf(path);
    if (problem === undefined) return path;
    if (problem !== 'missing') onProgress(`not using ${path}: ${problem}`);
  }
  await removeLeftovers(binDir);

  const fetchOptions: FetchOptions = {
    version: TEMPORAL_CLI_VERSION,
    searchPath,
    onProgress,
    abort: options.abort ?? new AbortController().signal,
  };
  const failures: string[] = [];
  for (const [what, fetch] of [
    ['download', pinning(options.download ?? downloadWithSdk, options.pinned ?? pinnedDigest)],
    ['build with Go', options.build ?? buildWithGo],
  ] as const) {
    try {
      return await fetchInto(cached, fetch, fetchOptions);
    } catch (error) {
      if (error instanceof StartupError || fetchOptions.abort.aborted) throw error;
      failures.push(`${what}: ${firstLine(error)}`);
      onProgress(`${what} failed: ${firstLine(error)}`);
    }
  }
  throw new StartupError(
    `No Temporal server found (${failures.join('; ')}). Install the temporal command ` +
      '(https://temporal.io/setup/install-temporal-cli), or set TEMPORAL_ADDRESS to a server ' +
      'that runs, or install Go 1.24 or newer, and start again.',
  );
}

/** A download that has the pinned digest, or tells which one it has where none is pinned. */
const pinning =
  (fetch: Fetch, pinned: (version: string) => Promise<string | undefined>): Fetch =>
  async (folder, options) => {
    const path = await fetch(folder, options);
    const [digest, expected] = [await sha256Of(path), await pinned(options.version)];
    if (expected === undefined) {
      options.onProgress(`the download is not pinned; its SHA-256 is ${digest}`);
    } else if (digest !== expected) {
      throw new Error(`its SHA-256 is ${digest} and must be ${expected}`);
    }
    return path;
  };

/** Fetches into a folder of our own first, so that what is in the cache is complete. */
async function fetchInto(cached: string, fetch: Fetch, options: FetchOptions): Promise<string> {
  const part = join(cached, '..', `fetch-${process.pid}`);
  try {
    await mkdir(part, { recursive: true }).catch((error: unknown) => {
      throw unwritable(part, error);
    });
    const fetched = await fetch(part, options);
    const problem = await problemOf(fetched);
    if (problem !== undefined) throw new Error(problem);
    await rename(fetched, cached);
    return cached;
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

/** What a start that was killed while it fetched has left. */
async function removeLeftovers(binDir: string): Promise<void> {
  for (const name of await readdir(binDir).catch(() => [])) {
    const pid = Number(/^fetch-(\d+)$/.exec(name)?.[1]);
    if (pid > 0 && identify(pid) === undefined) {
      await rm(join(binDir, name), { recursive: true, force: true });
    }
  }
}

/** Undefined for a program that works; a broken or partial file does not tell its version. */
async function problemOf(path: string): Promise<string | undefined> {
  try {
    const writer = await foreignWriter(path);
    if (writer !== undefined) return writer;
    const { stdout } = await promisify(execFile)(path, ['--version'], {
      timeout: 20_000,
      env: childEnvironment(),
    });
    const version = /Server (\d+)\.(\d+)/.exec(stdout);
    if (version === null) return 'it does not tell its server version';
    const [major, minor] = [Number(version[1]), Number(version[2])];
    const isNewEnough =
      major > SERVER_MIN[0] || (major === SERVER_MIN[0] && minor >= SERVER_MIN[1]);
    return isNewEnough
      ? undefined
      : `it is server ${major}.${minor}, older than ${SERVER_MIN.join('.')}`;
  } catch (error) {
    const isMissing = typeof error === 'object' && error !== null && 'code' in error;
    return isMissing && error.code === 'ENOENT'
      ? 'missing'
      : `it does not run (${firstLine(error)})`;
  }
}
