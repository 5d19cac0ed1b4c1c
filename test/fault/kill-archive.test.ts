import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import pg from 'pg';
import { fillTenant } from '../support/servers/fill.js';
import { KillableProduct } from '../start/killable.js';
import { tellFigures } from '../start/outcome.js';
import { makeFolder, removeFolder, until } from '../start/workbench.js';

const tenantId = 'kill-archive';
const other = 'kill-archive-other';
const month = '2026-10';
/** Of the tenant: two files of events and two of charges. */
const events = 60_000;
/** Each dies twice while it writes, drops and restores: DURABILL_KILLS=100 for the long run. */
const rounds = Math.ceil(Number(process.env['DURABILL_KILLS'] ?? 6) / 6);

/** spec/beyond.md R113, R116, R117: processes die at random moments of writing, dropping, restoring. */
describe('an archive whose processes are killed with -9', function () {
  this.timeout(1_800_000);
  let product: KillableProduct;
  let owner: pg.Client;
  let folder = '';
  before(async () => {
    folder = await makeFolder();
    product = await KillableProduct.start({ env: { ARCHIVE_URL: pathToFileURL(folder).href } });
    await product.token(tenantId);
    await product.token(other);
    owner = new pg.Client({ connectionString: await product.databaseUrl() });
    await owner.connect();
    await fillTenant(owner, { tenantId, accounts: 100, events, services: 5 });
    await fillTenant(owner, { tenantId: other, accounts: 10, events: 5_000, services: 2 });
    await owner.query('update usage_event set message = null where message is not null');
    await owner.query(
      `insert into billed_usage (tenant_id, account_id, billed_until)
       select tenant_id, id, '2026-10-31' from account where tenant_id = $1`,
      [tenantId],
    );
  });
  after(async () => {
    await owner.end();
    await product.close();
    await removeFolder(folder);
  });

  /** How many rows there are of a tenant, and a digest of every column of each. */
  const factsOf = async (id: string) => {
    const { rows } = await owner.query<{ rows: string; digest: string }>(
      `select count(*) as rows, md5(string_agg(line, chr(10) order by line)) as digest from (
         select md5('event ' || t::text) as line from usage_event as t where tenant_id = $1
         union all
         select md5('charge ' || t::text) from rated_transaction as t where tenant_id = $1
       ) as fact`,
      [id],
    );
    return { rows: Number(rows[0]?.rows), digest: rows[0]?.digest };
  };

  const stateOf = async () => {
    const { rows } = await owner.query<{ state: string; isDropped: boolean }>(
      `select state, dropped_at is not null as "isDropped" from usage_archive_month
       where tenant_id = $1`,
      [tenantId],
    );
    return rows[0] ?? { state: 'none', isDropped: false };
  };

  let kills = 0;
  /** Starts a command in the background, and kills the product twice while it is at work. */
  const killedWhile = async (command: string, isDone: () => Promise<boolean>): Promise<void> => {
    const started = await product.command(
      'archive',
      command,
      tenantId,
      '--month',
      month,
      '--background',
    );
    expect(started.code, started.output).to.equal(0);
    for (let kill = 0; kill < 2; kill += 1) {
      await wait(Math.random() * 2_500);
      await product.kill();
      kills += 1;
      await product.launch();
    }
    await until(isDone, 180_000, `the end of ${command}`);
  };

  it('loses, doubles and changes nothing', async () => {
    const [before, others] = [await factsOf(tenantId), await factsOf(other)];
    expect(before.rows).to.equal(2 * events);
    const since = performance.now();
    for (let round = 0; round < rounds; round += 1) {
      await killedWhile('write', async () => (await stateOf()).state === 'complete');
      // Waits for what is under way, and finds all there.
      const written = await product.command('archive', 'write', tenantId, '--month', month);
      expect(written.code, written.output).to.equal(0);
      expect(await factsOf(tenantId)).to.deep.equal(before);
      await killedWhile('drop', async () => (await stateOf()).isDropped);
      expect((await factsOf(tenantId)).rows).to.equal(0);
      expect(await factsOf(other)).to.deep.equal(others);
      const verified = await product.command('archive', 'verify', tenantId, '--month', month);
      expect(verified.code, verified.output).to.equal(0);
      await killedWhile('restore', async () => !(await stateOf()).isDropped);
      expect(await factsOf(tenantId)).to.deep.equal(before);
      expect((await stateOf()).state).to.equal('complete');
    }
    const { rows } = await owner.query<{ name: string }>(
      `select relname as name from pg_class where relname like '%\\_kept' and relkind = 'r'`,
    );
    expect(rows, 'copies that nobody finished').to.deep.equal([]);
    const seconds = ((performance.now() - since) / 1000).toFixed(1);
    tellFigures({ kills, rounds, rows: before.rows, seconds });
  });
});
