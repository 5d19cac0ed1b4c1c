import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { chooseServerUser } from '../../../src/embedded/postgres-programs.js';
import { childEnvironment } from '../../../src/platform/config/config.js';
import { freePort } from '../../../src/platform/free-port.js';
import { errorCode } from '../../../src/platform/startup-error.js';

interface PoolerOptions {
  /** Sessions of PostgreSQL that one login of one database has. */
  readonly poolSize: number;
}

/**
 * PgBouncer in transaction mode before a server; callers sign in with the server's own logins. Each test
 * file has databases of its own: sessions of those that are over are closed soon, or the server has none
 * left for the others.
 */
const settingsOf = (server: URL, port: number, folder: string, { poolSize }: PoolerOptions) => `
[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
pool_mode = transaction
default_pool_size = ${poolSize}
server_idle_timeout = 10
max_client_conn = 2000
query_wait_timeout = 10
auth_type = scram-sha-256
auth_file = ${join(folder, 'users.txt')}
auth_user = ${decodeURIComponent(server.username)}
`;

const quoted = (text: string): string => `"${decodeURIComponent(text).replaceAll('"', '""')}"`;

/** Resolves when PgBouncer listens; throws what it said where it ends before. */
function started(program: ChildProcess): Promise<void> {
  let said = '';
  return new Promise((resolve, reject) => {
    program.once('error', (error) =>
      reject(
        errorCode(error) === 'ENOENT'
          ? new Error(`There is no pgbouncer on PATH: Debian's package 'pgbouncer' brings it.`)
          : error,
      ),
    );
    program.once('exit', () => reject(new Error(`PgBouncer did not start: ${said}`)));
    program.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('process up')) resolve();
    });
  });
}

/** The same database with the same login through the pooler of this port. */
export function throughPooler(databaseUrl: string, port: number): string {
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return url.href;
}

export interface Pooler {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts a real PgBouncer before the server of this address, whose login must be an owner's. */
export async function startPooler(databaseUrl: string, options: PoolerOptions): Promise<Pooler> {
  const server = new URL(databaseUrl);
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'durabill-pooler-'));
  // It refuses to run as root, as PostgreSQL does.
  const user = await chooseServerUser(folder);
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(file, settingsOf(server, port, folder, options));
  await writeFile(
    join(folder, 'users.txt'),
    `${quoted(server.username)} ${quoted(server.password)}\n`,
  );
  await chmod(folder, 0o700);
  if (user !== undefined) {
    for (const path of [folder, file, join(folder, 'users.txt')]) {
      await chown(path, user.uid, user.gid);
    }
  }
  // Debian has it where only the administrator's PATH leads.
  const path = [process.env['PATH'], '/usr/sbin'].join(delimiter);
  const program = spawn('pgbouncer', [file], {
    ...user,
    env: childEnvironment({ PATH: path }),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await started(program);
  return {
    port,
    async stop() {
      const ended = once(program, 'exit');
      program.kill('SIGINT');
      program.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
