import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { UsageMaker } from './fixture.js';
import type { BenchRow } from './result.js';
import type { Bench } from './rows.js';

const warmUpEvents = 20_000;
const ratedEvents = 100_000;
const eventsPerBatch = 1_000;
/** What one transaction of the product writes, and how many write at once. */
const floorEvents = 500;
const floorConnections = 4;

/** About; of what `UsageMaker` makes. */
const messageBytes = 230;

const tables = ['usage_event', 'rated_transaction'] as const;

/** Sends so many events, in batches. */
export async function fillLog(bench: Bench, run: string, count: number): Promise<void> {
  const maker = new UsageMaker(run, bench.services, bench.accounts.length);
  for (let sent = 0; sent < count; sent += eventsPerBatch) {
    const body = Array.from({ length: eventsPerBatch }, () => maker.next());
    await bench.client.send('POST', '/v1/ingest/usage/batch', body);
  }
}

async function countPending(db: pg.Client): Promise<number> {
  const { rows } = await db.query<{ pending: string }>(
    `select coalesce(sum(log.next_offset - coalesce(consumer.next_offset, 0)), 0) as pending
     from broker_partition log left join usage_consumer consumer using (tenant_id, partition)`,
  );
  return Number(rows[0]?.pending);
}

/** Seconds until the log is empty. */
export async function drain(db: pg.Client): Promise<number> {
  const since = performance.now();
  while ((await countPending(db)) > 0) await wait(10);
  return (performance.now() - since) / 1000;
}

/** Rows of a table as arrays of text by column, in pieces of the rows of `floorEvents` events. */
async function readPieces(db: pg.Client, table: string, run: string) {
  const where =
    table === 'usage_event'
      ? `row.external_transaction_id like '${run}-%'`
      : `row.external_tran_id like '${run}-%'`;
  const { rows, fields } = await db.query<(string | null)[]>({
    text: `select * from ${table} row where ${where}`,
    rowMode: 'array',
    types: { getTypeParser: () => (text: string) => text },
  });
  const types = await db.query<{ type: string }>(
    `select format_type(atttypid, atttypmod) as type from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
    [table],
  );
  const pieces: (string | null)[][][] = [];
  for (let from = 0; from < rows.length; from += floorEvents) {
    const piece = rows.slice(from, from + floorEvents);
    pieces.push(fields.map((_field, column) => piece.map((row) => row[column] ?? null)));
  }
  const arrays = types.rows.map(({ type }, index) => `$${index + 1}::${type}[]`);
  return { sql: `insert into floor_${table} select * from unnest(${arrays.join(', ')})`, pieces };
}

/** Events per second when node-postgres inserts the rows of a run again, indexes and all. */
async function measureInsert(bench: Bench, db: pg.Client, run: string): Promise<number> {
  const sources: Awaited<ReturnType<typeof readPieces>>[] = [];
  for (const table of tables) {
    await db.query(`drop table if exists floor_${table}`);
    await db.query(`create table floor_${table} (like ${table} including all)`);
    sources.push(await readPieces(db, table, run));
  }
  const pieces = sources[0]?.pieces.length ?? 0;
  const clients = Array.from(
    { length: floorConnections },
    () => new pg.Client({ connectionString: bench.databaseUrl }),
  );
  await Promise.all(clients.map((client) => client.connect()));
  let next = 0;
  const insert = async (client: pg.Client): Promise<void> => {
    for (let piece = next++; piece < pieces; piece = next++) {
      await client.query('begin');
      for (const source of sources) await client.query(source.sql, source.pieces[piece]);
      await client.query('commit');
    }
  };
  const since = performance.now();
  await Promise.all(clients.map(insert));
  const seconds = (performance.now() - since) / 1000;
  await Promise.all(clients.map((client) => client.end()));
  return ratedEvents / seconds;
}

/** Waits until what follows rating behind it is done, and tables have their size. */
async function settle(db: pg.Client): Promise<void> {
  const isBehind = async () => (await db.query('select from usage_change limit 1')).rowCount !== 0;
  while (await isBehind()) await wait(50);
  await db.query('checkpoint');
}

interface Space {
  /** By table (with its TOAST) and by index. */
  readonly relations: ReadonlyMap<string, number>;
  readonly wal: number;
}

/** Bytes of all tables and indexes, and of all WAL that was ever written. */
async function spaceOf(db: pg.Client): Promise<Space> {
  const { rows } = await db.query<{ name: string; bytes: string; wal: string }>(
    `select relname as name, case relkind when 'i' then pg_relation_size(oid)
       else pg_table_size(oid) end as bytes, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as wal
     from pg_class where relkind in ('r', 'i') and relnamespace = 'public'::regnamespace`,
  );
  return {
    relations: new Map(rows.map(({ name, bytes }) => [name, Number(bytes)])),
    wal: Number(rows[0]?.wal),
  };
}

/** What an event has taken, from its publication to its totals; says of what it consists. */
function bytesBetween(bench: Bench, before: Space, after: Space) {
  const grown = [...after.relations]
    .map(([name, bytes]) => ({
      name,
      bytes: (bytes - (before.relations.get(name) ?? 0)) / ratedEvents,
    }))
    .sort((a, b) => b.bytes - a.bytes);
  for (const { name, bytes } of grown)
    if (Math.abs(bytes) >= 0.5) bench.tell(`${bytes.toFixed(1)} B of an event in ${name}`);
  return {
    disk: grown.reduce((sum, { bytes }) => sum + bytes, 0),
    wal: (after.wal - before.wal) / ratedEvents,
  };
}

function bytesRow(id: string, where: string, value: number, aim: number): BenchRow {
  return {
    id,
    value,
    floorValue: messageBytes,
    ratio: value / messageBytes,
    unit: 'B',
    isReached: value <= aim,
    aim: `<= ${aim} B`,
    measure: `bytes ${where} of an event, from its publication to its totals`,
    floor: 'B of its message',
  };
}

/** Says which tables and indexes the WAL of an event since `lsn` is about. */
async function tellWal(bench: Bench, db: pg.Client, lsn: string): Promise<void> {
  const { rows } = await db.query<{ name: string; bytes: string; pages: string }>(
    `select coalesce(relname, 'others') as name, sum(record_length) / ${ratedEvents} as bytes,
       sum(block_fpi_length) / ${ratedEvents} as pages
     from pg_get_wal_block_info($1, pg_current_wal_flush_lsn()) as wal
     left join pg_class on wal.relfilenode = pg_relation_filenode(oid)
       and pg_relation_filenode(oid) is not null
     where block_id = 0 group by 1 order by 2 desc`,
    [lsn],
  );
  for (const { name, bytes, pages } of rows) {
    if (Number(bytes) < 2) continue;
    const ofPages = Number(pages) < 2 ? '' : `, whole pages ${Number(pages).toFixed(0)} B`;
    bench.tell(`${Number(bytes).toFixed(0)} B of WAL of an event: ${name}${ofPages}`);
  }
}

/** From a filled log to committed rated transactions, against a bulk insert of the same rows. */
export async function measureRate(bench: Bench): Promise<BenchRow[]> {
  const db = new pg.Client({ connectionString: bench.databaseUrl });
  await db.connect();
  bench.tell('emptying the log that the rows above have filled');
  await bench.product.ask({ do: 'startWorkers' });
  await drain(db);
  await bench.product.ask({ do: 'stopWorkers' });
  await fillLog(bench, 'warm-up', warmUpEvents);
  await bench.product.ask({ do: 'startWorkers' });
  await drain(db);
  await settle(db);
  await bench.product.ask({ do: 'stopWorkers' });
  const run = `rate-${Date.now()}`;
  // What the WAL holds is read at the end.
  await db.query(`alter system set wal_keep_size = '4GB'`);
  await db.query('select pg_reload_conf()');
  await db.query('create extension if not exists pg_walinspect');
  const before = await spaceOf(db);
  const lsn = (await db.query<{ lsn: string }>('select pg_current_wal_lsn() as lsn')).rows[0]?.lsn;
  bench.tell(`filling the log with ${ratedEvents} events`);
  await fillLog(bench, run, ratedEvents);
  await db.query('checkpoint');
  await bench.product.ask({ do: 'startWorkers' });
  const value = ratedEvents / (await drain(db));
  const rated = await db.query<{ count: string }>(
    `select count(*) from rated_transaction where external_tran_id like $1`,
    [`${run}-%`],
  );
  if (Number(rated.rows[0]?.count) !== ratedEvents) throw new Error('not all events were rated');
  await settle(db);
  const space = bytesBetween(bench, before, await spaceOf(db));
  await bench.product.ask({ do: 'stopWorkers' });
  await tellWal(bench, db, lsn ?? '0/0');
  await db.query('checkpoint');
  const floorValue = await measureInsert(bench, db, run);
  await db.end();
  const ratio = value / floorValue;
  const isReached = ratio >= 0.4 && value >= 10_000;
  return [
    {
      id: 'rate',
      value,
      floorValue,
      ratio,
      unit: '/s',
      isReached,
      aim: '>= 0.4 and >= 10,000/s',
      measure: `events per second from a filled log, ${bench.services.length} metered, tiered services`,
      floor: '/s bulk insert of the same rows',
    },
    bytesRow('disk', 'on disk', space.disk, 900),
    bytesRow('wal', 'of WAL', space.wal, 1_200),
  ];
}
