import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { dataFile } from '../../src/platform/data-folder.js';
import { findProcesses } from '../../src/embedded/processes.js';
import { findTemporal } from '../../src/embedded/temporal-program.js';
import {
  startEmbeddedTemporal,
  type EmbeddedTemporal,
} from '../../src/embedded/embedded-temporal.js';

/** The addresses at which a process listens, as /proc has them: 0100007F is 127.0.0.1. */
async function listening(pid: number): Promise<{ address: string; port: number }[]> {
  const folder = `/proc/${pid}/fd`;
  const links = await Promise.all(
    (await readdir(folder)).map((fd) => readlink(join(folder, fd)).catch(() => '')),
  );
  const own = new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
  const found: { address: string; port: number }[] = [];
  for (const file of ['tcp', 'tcp6']) {
    const text = await readFile(`/proc/${pid}/net/${file}`, 'utf8').catch(() => '');
    for (const line of text.split('\n').slice(1)) {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      const [address = '', port = ''] = local.split(':');
      if (state === '0A' && own.has(inode)) found.push({ address, port: parseInt(port, 16) });
    }
  }
  return found;
}

/** The status of an answer; null for what speaks no HTTP. */
const statusOf = (port: number, path: string, method = 'GET', host = 'localhost') =>
  new Promise<number | null>((resolve) => {
    const call = request(
      { host: '127.0.0.1', port, path, method, headers: { Host: host }, timeout: 5_000 },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? null);
      },
    );
    call.on('error', () => resolve(null));
    call.on('timeout', () => call.destroy());
    call.end();
  });

describe('the embedded Temporal server', function () {
  // A server that is built first takes minutes, once.
  this.timeout(600_000);
  let dataDir: string;
  let server: EmbeddedTemporal;
  before(async function () {
    if (process.platform !== 'linux') return void this.skip();
    dataDir = await mkdtemp(join(tmpdir(), 'durabill-closed-'));
    // As an older version, or a wide umask, has left it.
    await writeFile(`${dataFile.temporal(dataDir)}-shm`, '', { mode: 0o644 });
    const cacheDir = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'durabill');
    const binary = await findTemporal({ cacheDir, searchPath: process.env['PATH'] ?? '' });
    server = await startEmbeddedTemporal({ dataDir, binary, namespace: 'default' });
  });
  after(async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('keeps its files to its user', async () => {
    const names = (await readdir(dataDir)).filter((name) => name.startsWith('temporal.db'));
    expect(names).to.include('temporal.db');
    for (const name of names) {
      expect((await stat(join(dataDir, name))).mode & 0o777, name).to.equal(0o600);
    }
  });

  it('leaves nothing that another user of the machine can read', async function () {
    if (process.getuid?.() !== 0) this.skip();
    // The folder itself stands open here: what counts are the files.
    await chmod(dataDir, 0o755);
    const read = promisify(execFile)('cat', [dataFile.temporal(dataDir)], {
      uid: 65534,
      gid: 65534,
    });
    const failure: unknown = await read.catch((error: unknown) => error);
    expect(String(failure)).to.include('Permission denied');
  });

  it('listens on this machine alone, and carries nothing out over HTTP', async () => {
    const [{ pid } = { pid: 0 }] = findProcesses(
      'server start-dev',
      `${dataFile.temporal(dataDir)} `,
    );
    const places = await listening(pid);
    expect(places.length).to.be.greaterThan(2);
    expect([...new Set(places.map(({ address }) => address))]).to.deep.equal(['0100007F']);
    const uiPort = Number(new URL(server.uiUrl).port);
    for (const { port } of places.filter((place) => place.port !== uiPort)) {
      for (const host of ['localhost', `127.0.0.1:${port}`, 'temporal', '*', '%01']) {
        const read = await statusOf(port, '/api/v1/namespaces', 'GET', host);
        expect(read, `${port} for ${host}`).to.be.oneOf([null, 403, 404]);
        const start = await statusOf(port, '/api/v1/namespaces/default/workflows/x', 'POST', host);
        expect(start, `${port} for ${host}`).to.be.oneOf([null, 403, 404, 405]);
      }
      const nexus = '/namespaces/default/task-queues/durabill/nexus-services/x/y';
      expect(await statusOf(port, nexus, 'POST')).to.be.oneOf([null, 403, 404, 405]);
    }
    // The page has a port, and a page of somebody else cannot have it start anything.
    const forged = await statusOf(uiPort, '/api/v1/namespaces/default/workflows/x', 'POST');
    expect(forged).to.be.oneOf([400, 403, 405]);
  });
});
