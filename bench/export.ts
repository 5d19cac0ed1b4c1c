import { request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import pg from 'pg';
import { fillTenant } from '../test/support/servers/fill.js';
import { inTurn } from './load.js';
import type { BenchRow } from './result.js';
import type { Bench } from './rows.js';

const tenantId = 'export';
const transactions = 500_000;
const rounds = 3;
const aim = 200_000;
const memoryAimMiB = 100;
const pageRows = 5_000;

/** Rows per second of a whole export; what it has is not looked at but for its last line. */
async function measureExport(url: string, token: string): Promise<number> {
  const since = performance.now();
  const outgoing = request(`${url}/v1/exports/rated-transactions`, {
    headers: { authorization: `Bearer ${token}` },
  }).end();
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  let tail = '';
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - 100))).slice(-100);
  }
  const seconds = (performance.now() - since) / 1000;
  if (!tail.endsWith(`{"end":true,"rows":${transactions}}\n`)) {
    throw new Error(`The export is not whole: ${tail}`);
  }
  return transactions / seconds;
}

/** The same rows as a program reads them that is no product: page by page, and written with JSON.stringify. */
async function measureFloor(db: pg.Client): Promise<number> {
  const since = performance.now();
  let [day, id] = ['0001-01-01', '00000000-0000-0000-0000-000000000000'];
  let bytes = 0;
  for (;;) {
    const { rows } = await db.query<{ id: string; day: string }>(
      `select *, transaction_date::text as day from rated_transaction
       where tenant_id = $1 and (transaction_date, id) > ($2::date, $3::uuid)
       order by transaction_date, id limit ${pageRows}`,
      [tenantId, day, id],
    );
    const last = rows.at(-1);
    if (last === undefined) break;
    for (const row of rows) bytes += Buffer.byteLength(`${JSON.stringify(row)}\n`);
    [day, id] = [last.day, last.id];
  }
  if (bytes === 0) throw new Error('The floor has no rows.');
  return transactions / ((performance.now() - since) / 1000);
}

/** NDJSON of rated transactions over HTTP, and what it takes of memory. */
export async function measureExports(bench: Bench): Promise<BenchRow[]> {
  const { client, product, databaseUrl } = bench;
  const owner = new pg.Client({ connectionString: databaseUrl });
  await owner.connect();
  bench.tell(`filling a tenant with ${transactions} rated transactions`);
  await owner.query('insert into tenant (id, name) values ($1, $1)', [tenantId]);
  await fillTenant(owner, { tenantId, accounts: 10_000, events: transactions, services: 500 });
  await owner.query('vacuum analyze');
  await owner.query('checkpoint');
  const token = await product.ask<string>({ do: 'token', tenantId });
  const memory = async () => (await product.ask<number>({ do: 'memory' })) / 1024 ** 2;
  // What the first one takes, it takes whatever there is to export.
  await measureExport(client.url, token);
  const before = await memory();
  const { a, b, ratio } = await inTurn(
    rounds,
    () => measureExport(client.url, token),
    () => measureFloor(owner),
  );
  const grown = (await memory()) - before;
  await owner.end();
  return [
    {
      id: 'export',
      value: a,
      floorValue: b,
      ratio,
      unit: '/s',
      transactions,
      aim: `>= ${aim.toLocaleString('en')} /s`,
      isReached: a >= aim,
      measure: 'rated transactions per second as NDJSON over HTTP',
      floor: '/s read and written by node-postgres and JSON.stringify, without HTTP',
    },
    {
      id: 'export (memory)',
      value: grown,
      floorValue: before,
      ratio: grown / before,
      unit: 'MiB',
      transactions,
      aim: `<= ${memoryAimMiB} MiB`,
      isReached: grown <= memoryAimMiB,
      measure: `what ${rounds} exports of ${transactions} rows add to the memory of the process`,
      floor: 'MiB before',
    },
  ];
}
