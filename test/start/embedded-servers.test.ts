import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { dataFile } from '../../src/platform/data-folder.js';
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../src/embedded/embedded-postgres.js';
import { findProcesses, identify } from '../../src/embedded/processes.js';
import { startEmbeddedTemporal } from '../../src/embedded/embedded-temporal.js';
import { findTemporal } from '../../src/embedded/temporal-program.js';
import { cacheDir, makeFolder, removeFolder, startModule, until } from './workbench.js';

async function ask(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ value: unknown }>(sql);
    return rows[0]?.value;
  } finally {
    await client.end();
  }
}

describe('embedded PostgreSQL', () => {
  let folder = '';
  let server: EmbeddedPostgres | undefined;
  let warnings: string[] = [];
  /** How long it takes to make a cluster and to start on it. */
  let madeMs = NaN;
  const start = async (): Promise<EmbeddedPostgres> => {
    warnings = [];
    server = await startEmbeddedPostgres({
      dataDir: folder,
      cacheDir,
      onWarning: (text) => warnings.push(text),
    });
    return server;
  };
  const postmaster = async (): Promise<number> => {
    return Number(
      (await readFile(join(dataFile.postgres(folder), 'postmaster.pid'), 'utf8')).split('\n')[0],
    );
  };
  const messageOf = async (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'no error',
      (error: unknown) => String(error),
    );

  before(async () => (folder = await makeFolder()));
  afterEach(async () => {
    await server?.stop();
    server = undefined;
  });
  after(async () => removeFolder(folder));

  it('makes a cluster in a folder that is closed to others, with a password', async () => {
    const since = performance.now();
    const { url } = await start();
    madeMs = performance.now() - since;
    expect(await ask(url, 'select current_database() as value')).to.equal('durabill');
    expect(await ask(url, `select current_setting('data_checksums') as value`)).to.equal('on');
    expect(await ask(url, `select current_setting('fsync') as value`)).to.equal('on');
    expect(await ask(url, `select lower('ÄÖ') as value`)).to.equal('äö');
    const refused = url.replace(/:[^:@]+@/, ':wrong@');
    expect(await messageOf(ask(refused, 'select 1'))).to.contain('password authentication failed');
    const { mode } = await stat(dataFile.postgresPassword(folder));
    expect((mode & 0o777).toString(8)).to.equal('600');
    await ask(url, 'create table kept as select 7 as value');
  });

  it('starts on the same data and port, in less time than making it took', async () => {
    const first = (await start()).url;
    await server?.stop();
    const since = performance.now();
    expect((await start()).url).to.equal(first);
    expect(performance.now() - since).to.be.below(madeMs);
    expect(await ask(first, 'select value from kept')).to.equal(7);
  });

  it('comes back in place after kill -9', async () => {
    const { url } = await start();
    const pid = await postmaster();
    process.kill(pid, 'SIGKILL');
    await until(() => warnings.some((text) => text.includes('is back')), 30_000, 'coming back');
    expect(warnings[0]).to.equal(`PostgreSQL (process ${pid}) has died; starting it again`);
    expect(await ask(url, 'select value from kept')).to.equal(7);
  });

  it('outlives a killed Node and is adopted, then stops', async () => {
    const script = `
      import { startEmbeddedPostgres } from 'repository/src/embedded/embedded-postgres.js';
      await startEmbeddedPostgres({ dataDir: ${JSON.stringify(folder)}, cacheDir: ${JSON.stringify(cacheDir)} });
      process.kill(process.pid, 'SIGKILL');`;
    const other = await startModule(folder, script);
    expect(await other.ended).to.equal('SIGKILL');
    const pid = await postmaster();
    expect(identify(pid)).not.to.equal(undefined);
    const { url } = await start();
    expect(await postmaster()).to.equal(pid);
    expect(await ask(url, 'select value from kept')).to.equal(7);
    await server?.stop();
    expect(identify(pid)).to.equal(undefined);
  });

  it('does not take a stranger with the old process number for its server', async () => {
    const file = join(dataFile.postgres(folder), 'postmaster.pid');
    await writeFile(file, `${process.pid}\n${folder}\n1\n1\n\n\n\nready\n`);
    expect(await ask((await start()).url, 'select value from kept')).to.equal(7);
  });

  it('refuses data of a newer PostgreSQL in one line', async () => {
    const file = join(dataFile.postgres(folder), 'PG_VERSION');
    const version = await readFile(file, 'utf8');
    await writeFile(file, '99\n');
    try {
      expect(await messageOf(start())).to.match(
        /are of PostgreSQL 99, this Durabill brings PostgreSQL \d+\. Start the newer Durabill/,
      );
    } finally {
      await writeFile(file, version);
    }
  });

  it('refuses a folder that is none in one line', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    const starting = startEmbeddedPostgres({ dataDir: join(file, 'data'), cacheDir });
    expect(await messageOf(starting)).to.contain(
      `Cannot write in the data folder ${file}/data: a part of the path is a file`,
    );
  });

  it('refuses a folder that cannot be made in one line', async () => {
    // Below a file not even root can make a folder.
    const file = join(folder, 'file');
    await writeFile(file, '');
    const starting = startEmbeddedPostgres({ dataDir: join(file, 'data'), cacheDir });
    expect(await messageOf(starting)).to.match(/^[^\n]*file\/data[^\n]*$/);
  });
});

describe('embedded Temporal', () => {
  it('is adopted after a killed Node, comes back after kill -9, and stops', async () => {
    const folder = await makeFolder();
    const { PATH: searchPath = '' } = process.env;
    const binary = await findTemporal({ cacheDir, searchPath });
    const options = { dataDir: folder, binary, namespace: 'default' };
    const pids = () => findProcesses(dataFile.temporal(folder)).map(({ pid }) => pid);
    try {
      const script = `
        import { startEmbeddedTemporal } from 'repository/src/embedded/embedded-temporal.js';
        const { address } = await startEmbeddedTemporal(${JSON.stringify(options)});
        console.log(address);
        setTimeout(() => process.kill(process.pid, 'SIGKILL'), 50);`;
      const other = await startModule(folder, script);
      expect(await other.ended).to.equal('SIGKILL');
      const before = pids();
      expect(before).to.have.length(1);

      const warnings: string[] = [];
      const onWarning = (text: string): void => void warnings.push(text);
      const server = await startEmbeddedTemporal({ ...options, onWarning });
      expect(pids()).to.deep.equal(before);
      expect(server.address).to.equal(other.output().trim());
      expect((await fetch(server.uiUrl)).status).to.equal(200);

      for (const pid of before) process.kill(pid, 'SIGKILL');
      await until(() => warnings.some((text) => text.includes('is back')), 30_000, 'coming back');
      expect(pids()).not.to.deep.equal(before);
      await server.stop();
      expect(pids()).to.deep.equal([]);
    } finally {
      await removeFolder(folder);
    }
  });
});
