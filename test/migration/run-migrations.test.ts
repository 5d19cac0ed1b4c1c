import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import pg from 'pg';
import { listPendingMigrations } from '../../src/platform/database/migrations.js';
import {
  NewerDatabaseError,
  readMigrationState,
  rollbackLastMigration,
  runPendingMigrations,
} from '../../src/platform/database/run-migrations.js';
import { createEmptyDatabase, createTestDatabase } from '../support/servers/servers.js';

const program = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

const inSql = (up: string, down: string, config = '') => `${config}
export const up = async (knex) => { for (const sql of ${up}) await knex.raw(sql); };
export const down = async (knex) => { for (const sql of ${down}) await knex.raw(sql); };
`;
const files = {
  '20300101000000-create-meter.js': inSql(
    `['create table meter (id int, read_at date)']`,
    `['drop table meter']`,
  ),
  '20300101000100-add-meter-unit.js': inSql(
    `['alter table meter add column unit text']`,
    `['alter table meter drop column unit']`,
  ),
  '20300101000200-index-meters.js': inSql(
    `['drop index concurrently if exists meter_read_at',
      'create index concurrently meter_read_at on meter (read_at)']`,
    `['drop index concurrently if exists meter_read_at']`,
    'export const config = { transaction: false };',
  ),
} as const;
const [create, add, index] = Object.keys(files) as [string, string, string];

describe('migrations', function () {
  this.timeout(120_000);
  let directory: string;
  let databaseUrl: string;
  let holder: pg.Client;

  const write = (name: string, text: string) => writeFile(join(directory, name), text);
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'durabill-migrations-'));
    databaseUrl = await createEmptyDatabase();
    holder = new pg.Client({ connectionString: databaseUrl });
    await holder.connect();
    await write(create, files[create as keyof typeof files]);
    await runPendingMigrations(databaseUrl, { directory });
  });
  afterEach(async () => {
    await holder.end();
    await rm(directory, { recursive: true, force: true });
  });
  const doneAndPending = () => readMigrationState(databaseUrl, directory);

  it('give a lock up that somebody holds, so that nobody waits behind them', async () => {
    await write(add, files[add as keyof typeof files]);
    await holder.query('begin');
    await holder.query('select from meter');
    const run = { directory, lockTimeoutMs: 50, attempts: 2 };
    const refusal = await runPendingMigrations(databaseUrl, run).catch((error: Error) => error);
    expect(String(refusal)).to.include(`${add} got no lock in 2 attempts of 50 ms`);
    await holder.query('commit');
    expect(await doneAndPending()).to.deep.equal({ done: [create], pending: [add] });
    expect(await runPendingMigrations(databaseUrl, run)).to.deep.equal([add]);
  });

  it('try again, and succeed when the lock is free', async () => {
    await write(add, files[add as keyof typeof files]);
    await holder.query('begin');
    await holder.query('select from meter');
    const running = runPendingMigrations(databaseUrl, { directory, lockTimeoutMs: 50 });
    // Until the migration has been refused once: what it left in the server's statistics says so.
    const watch = new pg.Client({ connectionString: databaseUrl });
    await watch.connect();
    for (let refused = 0; refused === 0;) {
      await watch.query('select pg_stat_clear_snapshot()');
      const { rows } = await watch.query<{ rolled: number }>(
        `select xact_rollback::int as rolled from pg_stat_database where datname = current_database()`,
      );
      refused = rows[0]?.rolled ?? 0;
    }
    await watch.end();
    await holder.query('commit');
    expect(await running).to.deep.equal([add]);
  });

  it('commit each by itself: one that fails leaves those before it', async () => {
    await write(add, files[add as keyof typeof files]);
    await write(index, inSql(`['select 1/0']`, '[]'));
    const failure = await runPendingMigrations(databaseUrl, { directory }).catch(
      (error: Error) => error,
    );
    expect(String(failure)).to.include('division by zero');
    expect(await doneAndPending()).to.deep.equal({ done: [create, add], pending: [index] });
  });

  it('make indexes concurrently, several processes at once', async () => {
    await write(add, files[add as keyof typeof files]);
    await write(index, files[index as keyof typeof files]);
    const runs = await Promise.all(
      [1, 2, 3].map(() => runPendingMigrations(databaseUrl, { directory })),
    );
    // One has done all, and the others found nothing left.
    expect(runs.flat()).to.deep.equal([add, index]);
    const { rows } = await holder.query(
      `select indisvalid from pg_index where indexrelid = 'meter_read_at'::regclass`,
    );
    expect(rows).to.deep.equal([{ indisvalid: true }]);
  });

  it('go on after a process that died between an index and its note', async () => {
    await write(index, files[index as keyof typeof files]);
    await holder.query('create index meter_read_at on meter (read_at)');
    await holder.query('update knex_migrations_lock set is_locked = 1');
    expect(await runPendingMigrations(databaseUrl, { directory })).to.deep.equal([index]);
  });

  it('are taken back one by one, the last first', async () => {
    await write(add, files[add as keyof typeof files]);
    await write(index, files[index as keyof typeof files]);
    await runPendingMigrations(databaseUrl, { directory });
    const back = () => rollbackLastMigration(databaseUrl, { directory });
    expect([await back(), await back(), await back(), await back()]).to.deep.equal([
      index,
      add,
      create,
      undefined,
    ]);
    expect(await doneAndPending()).to.deep.equal({ done: [], pending: [create, add, index] });
  });

  it('of a newer version are refused', async () => {
    await rm(join(directory, create));
    const failure = await runPendingMigrations(databaseUrl, { directory }).catch(
      (error: unknown) => error,
    );
    expect(failure).to.be.instanceOf(NewerDatabaseError);
  });
});

describe('durabill migrate', function () {
  this.timeout(120_000);
  const migrate = (databaseUrl: string, ...options: string[]) =>
    new Promise<{ code: number; lines: string[] }>((resolve) => {
      const env = {
        ...process.env,
        DATABASE_URL: databaseUrl,
        SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      };
      const words = ['--import', 'tsx', program, 'migrate', ...options];
      execFile(process.execPath, words, { env }, (error, stdout, stderr) => {
        const code = error === null ? 0 : Number(error.code);
        resolve({ code, lines: `${stdout}${stderr}`.trim().split('\n') });
      });
    });

  it('--check lists what an empty database lacks, and writes nothing', async () => {
    const databaseUrl = await createEmptyDatabase();
    const { code, lines } = await migrate(databaseUrl, '--check');
    expect(code).to.equal(1);
    expect(lines[0]).to.equal('20261121100000-create-platform.js');
    expect(lines.at(-1)).to.equal(`${lines.length - 1} pending`);
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const { rows } = await client.query(
      `select relname from pg_class where relnamespace = 'public'::regnamespace`,
    );
    await client.end();
    expect(rows).to.deep.equal([]);
  });

  it('--rollback takes the last one back, which --check shows and migrate does again', async () => {
    const databaseUrl = await createTestDatabase();
    expect(await migrate(databaseUrl, '--check')).to.deep.equal({ code: 0, lines: ['up to date'] });
    const back = await migrate(databaseUrl, '--rollback');
    const [last] = back.lines;
    expect(back).to.deep.equal({ code: 0, lines: [last, 'taken back'] });
    expect(await listPendingMigrations(databaseUrl)).to.deep.equal([last]);
    const pending = { code: 1, lines: [last, '1 pending'] };
    expect(await migrate(databaseUrl, '--check')).to.deep.equal(pending);
    const again = { code: 0, lines: [last, '1 applied'] };
    expect(await migrate(databaseUrl)).to.deep.equal(again);
    expect((await migrate(databaseUrl, '--check', '--rollback')).code).to.equal(1);
  });
});
