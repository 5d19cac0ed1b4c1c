import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect } from 'chai';
import { verifyArchive } from '../../src/commands/ageing/archive-usage.js';
import { startUsageArchive, waitForUsageArchive } from '../../src/flows/ageing/usage-archive.js';
import type { ArchiveFiles } from '../../src/messages/ageing/usage-archive.js';
import { listArchiveMonths } from '../../src/models/ageing/usage-archive.js';
import { fillTenant } from '../support/servers/fill.js';
import {
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import { asOwner } from '../support/servers/rows.js';

const month = '2026-10';

/** Steps that fail once after they were done, as if their worker had been killed then. */
const killed = new Set<string>();

/** spec/beyond.md R112 to R114. */
describe('the archive of usage', function () {
  this.timeout(120_000);
  let folder = '';
  let instance: TestInstance;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'durabill-archive-'));
    instance = await openTestInstance({
      withWorkers: true,
      archive: {
        url: pathToFileURL(folder).href,
        s3: { endpoint: undefined, region: undefined, credentials: undefined },
      },
      activityInterceptors: [
        () => ({
          inbound: {
            async execute(input, next): Promise<unknown> {
              const result: unknown = await next(input);
              const { activityType } = Context.current().info;
              if (!killed.delete(activityType)) return result;
              throw ApplicationFailure.retryable('Its worker was killed.');
            },
          },
        }),
      ],
    });
  });
  after(async () => {
    await instance.close();
    await rm(folder, { recursive: true, force: true });
  });

  const filesOf = (): ArchiveFiles => {
    const { archive } = instance.platform;
    if (!archive) throw new Error('There is no archive.');
    return archive;
  };
  const sql = (text: string, values: unknown[] = []) =>
    asOwner(instance.databaseUrl, async (client) => (await client.query(text, values)).rows);

  /** A tenant with so many events of October, each with a charge of 1.25; every hundredth is rejected. */
  const filled = async (events: number): Promise<TestTenant> => {
    const tenant = await instance.tenant();
    await asOwner(instance.databaseUrl, async (client) => {
      await fillTenant(client, { tenantId: tenant.id, accounts: 5, events, services: 2 });
      // As rating leaves them: messages are in the log, which these have not.
      await client.query('update usage_event set message = null where tenant_id = $1', [tenant.id]);
      await client.query(
        `update usage_event set status = 'rejected', code = 'X', reason = 'it''s "so"'
         where tenant_id = $1 and "offset" % 100 = 99`,
        [tenant.id],
      );
    });
    return tenant;
  };
  const place = () => {
    const { starter, waiter, taskQueue, signer } = instance.platform.temporal;
    return { client: starter, waiter, taskQueue, signer };
  };
  const archive = async ({ id: tenantId }: TestTenant): Promise<number> => {
    expect(await startUsageArchive(place(), { tenantId, month })).to.equal(true);
    return waitForUsageArchive(place().waiter, { tenantId, month });
  };
  const monthsOf = ({ id, scope }: TestTenant) => listArchiveMonths(scope.db.read, id);
  const verify = ({ id: tenantId, scope }: TestTenant) =>
    verifyArchive(scope, filesOf(), { tenantId, month });
  const filesIn = async ({ id }: Pick<TestTenant, 'id'>): Promise<string[]> =>
    (await readdir(join(folder, id), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();

  it('has every row that is final, as others read it', async () => {
    const tenant = await filled(1_000);
    // 1,000 less the 8 whose offset in their partition is 99: 125 of each of 8 partitions.
    expect(await archive(tenant)).to.equal(992 + 1_000);
    const [state] = await monthsOf(tenant);
    expect(state).to.deep.include({ month, state: 'complete', events: 992, charges: 1_000 });
    const files = await filesIn(tenant);
    expect(files).to.have.length(2);
    const duck = await (await DuckDBInstance.create()).connect();
    const found = await duck.runAndReadAll(
      `select count(*)::integer, count(distinct id)::integer, sum(amount::decimal(18,2))::varchar,
         min(transaction_date)::varchar, min(rated_at)::varchar
       from read_parquet('${files[0] ?? ''}')`,
    );
    const [known] = (await sql(
      `select min(transaction_date)::text as day,
         rtrim(to_char(min(rated_at) at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), '0') as at
       from rated_transaction where tenant_id = $1`,
      [tenant.id],
    )) as { day: string; at: string }[];
    // 1,000 charges of 1.25.
    const [row = []] = found.getRowsJson();
    expect(row.slice(0, 4)).to.deep.equal([1000, 1000, '1250.00', known?.day]);
    expect(row[4]).to.match(new RegExp(`^${known?.at ?? ''}`));
    expect(await verify(tenant)).to.equal(null);
    const written = await Promise.all(files.map((file) => readFile(file)));
    expect(await archive(tenant)).to.equal(1_992);
    expect(await filesIn(tenant)).to.deep.equal(files);
    expect(await Promise.all(files.map((file) => readFile(file)))).to.deep.equal(written);
  });

  for (const step of ['beginUsageArchive', 'archiveUsageRows', 'endUsageArchive']) {
    it(`is the same when a worker is killed after ${step}`, async () => {
      const tenant = await filled(200);
      killed.add(step);
      // Each of 8 partitions has 25 events, none with the offset 99.
      expect(await archive(tenant)).to.equal(400);
      expect(killed.size).to.equal(0);
      expect(await verify(tenant)).to.equal(null);
      expect(await filesIn(tenant)).to.have.length(2);
      expect((await monthsOf(tenant))[0]).to.deep.include({ state: 'complete', charges: 200 });
    });
  }

  it('notices what was changed by hand, in it and in the database, and mends it', async () => {
    const tenant = await filled(200);
    await archive(tenant);
    const [charges = '', events = ''] = await filesIn(tenant);
    const bytes = await readFile(events);
    for (const [change, fault] of [
      [() => writeFile(events, bytes.subarray(0, bytes.length - 9)), /cannot be read as Parquet/],
      [async () => writeFile(events, await readFile(charges)), /cannot be read|was changed/],
      [() => rm(events), /there is no file/],
    ] as const) {
      await change();
      expect(await verify(tenant)).to.match(fault);
      expect((await monthsOf(tenant))[0]?.state).to.equal('differs');
      await archive(tenant);
      expect(await verify(tenant)).to.equal(null);
    }
    // One bit of the data.
    const changed = Buffer.from(bytes);
    changed[200] = (changed[200] ?? 0) ^ 1;
    await writeFile(events, changed);
    expect(await verify(tenant)).to.not.equal(null);
    await writeFile(events, bytes);
    expect(await verify(tenant)).to.equal(null);

    await sql(
      `update rated_transaction set amount = 1.26 where tenant_id = $1
         and id = (select id from rated_transaction where tenant_id = $1 order by id offset 7 limit 1)`,
      [tenant.id],
    );
    expect(await verify(tenant)).to.match(/row 8 differs/);
    await archive(tenant);
    expect(await verify(tenant)).to.equal(null);
    await sql(
      `delete from rated_transaction where tenant_id = $1
         and id = (select id from rated_transaction where tenant_id = $1 order by id limit 1)`,
      [tenant.id],
    );
    expect(await verify(tenant)).to.match(/it has 200 rows where there are 199/);
    expect(await archive(tenant)).to.equal(399);
    expect(await verify(tenant)).to.equal(null);
  });

  it('has nothing of a month that was not archived, and does not say that it had', async () => {
    const tenant = await filled(16);
    const refused = await verify(tenant).catch((error: Error) => error.message);
    expect(refused).to.match(/of 2026-10 is not archived: 'durabill archive write' does that/);
    expect(await monthsOf(tenant)).to.deep.equal([]);
  });

  it('refuses a month that is not over, and one whose usage waits', async () => {
    const tenant = await instance.tenant();
    const refused = async (of: string): Promise<string> => {
      await startUsageArchive(place(), { tenantId: tenant.id, month: of });
      return waitForUsageArchive(place().waiter, { tenantId: tenant.id, month: of }).then(
        () => '',
        ({ message }: Error) => message,
      );
    };
    expect(await refused(new Date().toISOString().slice(0, 7))).to.match(/is not over/);
    await sql(`insert into usage_consumer (tenant_id, partition, next_offset) values ($1, 0, 5)`, [
      tenant.id,
    ]);
    await sql(
      `insert into usage_message (tenant_id, partition, first_offset, end_offset, messages, received_at)
       values ($1, 0, 5, 6, '{}', '2026-10-05T00:00:00Z')`,
      [tenant.id],
    );
    expect(await refused(month)).to.match(/is not rated yet/);
    // Nobody rates this one.
    await sql('delete from usage_message where tenant_id = $1', [tenant.id]);
  });

  /** A folder that takes nothing until there is room: a full disk, where one may be mounted. */
  const fullFolder = async (path: string) => {
    try {
      await mkdir(path);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', path], { stdio: 'ignore' });
    } catch {
      await rm(path, { recursive: true });
      await writeFile(path, 'no folder');
      return { makeRoom: () => rm(path), remove: () => undefined };
    }
    const ballast = join(path, 'ballast');
    const { bavail, bsize } = await statfs(path);
    await writeFile(ballast, Buffer.alloc(bavail * bsize)).catch(() => undefined);
    return {
      makeRoom: async () => {
        expect(await filesIn({ id: path.slice(folder.length + 1) })).to.deep.equal([ballast]);
        await rm(ballast);
      },
      remove: () => execFileSync('umount', ['--lazy', path]),
    };
  };

  it('waits while its disk is full, and nothing else does', async () => {
    const tenant = await filled(2_000);
    const disk = await fullFolder(join(folder, tenant.id));
    try {
      const failures = async (): Promise<number> =>
        (await instance.platform.metrics.archiveFailures.get()).values[0]?.value ?? 0;
      const before = await failures();
      await startUsageArchive(place(), { tenantId: tenant.id, month });
      for (const deadline = Date.now() + 20_000; (await failures()) < before + 2;) {
        expect(Date.now(), 'it fails and is tried again').to.be.lessThan(deadline);
        await wait(100);
      }
      // Others are served, and archived.
      await tenant.get('/v1/usage-events/summary').expect(200);
      expect(await archive(await filled(200))).to.equal(400);
      expect((await monthsOf(tenant))[0]).to.deep.include({ state: 'writing', events: 0 });
      await disk.makeRoom();
      // 250 events in each of 8 partitions, of which those of the offsets 99 and 199 are rejected.
      expect(await waitForUsageArchive(place().waiter, { tenantId: tenant.id, month })).to.equal(
        2_000 - 16 + 2_000,
      );
      expect(await verify(tenant)).to.equal(null);
    } finally {
      disk.remove();
    }
  });
});
