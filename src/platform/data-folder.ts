import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StartupError, errorCode, firstLine } from './startup-error.js';

/** The files of a data folder; no other module spells these names. */
export const dataFile = {
  instance: (dataDir: string) => join(dataDir, 'instance.json'),
  lock: (dataDir: string) => join(dataDir, 'instance.lock'),
  secretKey: (dataDir: string) => join(dataDir, 'secret-key'),
  postgres: (dataDir: string) => join(dataDir, 'postgres'),
  postgresPassword: (dataDir: string) => join(dataDir, 'postgres-password'),
  /** Of the login by which running processes reach the database. */
  loginPassword: (dataDir: string) => join(dataDir, 'postgres-login-password'),
  temporal: (dataDir: string) => join(dataDir, 'temporal.db'),
  log: (dataDir: string, server: string) => join(dataDir, 'log', `${server}.log`),
};

/** Creates the folder and checks that it is writable. */
export async function prepareDataFolder(dataDir: string): Promise<void> {
  const probe = join(dataDir, `.write-${process.pid}`);
  try {
    // Nothing in it is for others to list. Root lets others pass through it, because PostgreSQL
    // does not run as root and its folder lies inside.
    await mkdir(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
    await mkdir(join(dataDir, 'log'), { recursive: true, mode: 0o700 });
    await writeFile(probe, '');
  } catch (error) {
    throw unwritable(dataDir, error);
  } finally {
    await rm(probe, { force: true }).catch(() => undefined);
  }
}

/** The error for a folder that is not writable, whatever the system's error code. */
export function unwritable(dataDir: string, error: unknown): StartupError {
  const reasons: Record<string, string> = {
    EACCES: 'permission denied',
    EPERM: 'operation not permitted',
    EROFS: 'the file system is read-only',
    ENOSPC: 'the disk is full',
    EDQUOT: 'the disk quota is used up',
    ENOTDIR: 'a part of the path is a file, not a folder',
    EEXIST: 'it is a file, not a folder',
  };
  const reason = reasons[errorCode(error)] ?? firstLine(error);
  return new StartupError(
    `Cannot write in the data folder ${dataDir}: ${reason}. Set DATA_DIR to a folder that this user can write.`,
  );
}

/**
 * Replaces a file atomically: a reader, or a restart after a crash, finds the old content or the
 * new one.
 */
export async function writeWhole(path: string, content: string): Promise<void> {
  const part = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  await writeFile(part, content, { mode: 0o600, flush: true });
  await rename(part, path);
}

/**
 * Reads the secret in this file (readable by its owner only), or creates it. Of two processes that
 * create it at once one wins, and both return the winner's secret.
 */
export async function readOrCreateSecret(
  path: string,
  make: () => string = () => randomBytes(32).toString('base64'),
): Promise<string> {
  const kept = await readText(path);
  if (kept !== undefined && kept.trim() !== '') return kept.trim();
  const part = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(part, `${make()}\n`, { mode: 0o600, flush: true });
    if (kept !== undefined) await rm(path, { force: true });
    await link(part, path).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
  } catch (error) {
    throw unwritable(dirname(path), error);
  } finally {
    await rm(part, { force: true });
  }
  return (await readFile(path, 'utf8')).trim();
}

/** The text of a file, or undefined when there is no such file. */
export async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
