import pg from 'pg';
import { setTimeout as wait } from 'node:timers/promises';
import { fillPrices, fillTenant } from '../test/support/servers/fill.js';
import type { BenchRow } from './result.js';
import type { Bench } from './rows.js';

const accounts = 10_000;
const transactions = Number(process.env['BENCH_BILL_TRANSACTIONS'] ?? 1_000_000);
const services = 20;
const tenantId = 'bench-bill';

const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;

/** Seconds that the database alone takes to sum the same rows into as many items. */
async function measureSums(client: pg.Client): Promise<number> {
  await client.query('create table bench_sum (account_id uuid, service_id uuid, amount numeric)');
  const since = performance.now();
  await client.query(
    `insert into bench_sum select account_id, service_id, sum(amount)
     from rated_transaction where tenant_id = $1 group by account_id, service_id`,
    [tenantId],
  );
  const seconds = (performance.now() - since) / 1000;
  await client.query('drop table bench_sum');
  return seconds;
}

/** Rated transactions that a billing run puts on invoices per second, against their plain sum. */
export async function measureBill({ databaseUrl, client, product, tell }: Bench) {
  const owner = new pg.Client({ connectionString: databaseUrl });
  await owner.connect();
  tell(`filling ${accounts} accounts with ${transactions} rated transactions`);
  await owner.query(`insert into tenant (id, name) values ($1, $1) on conflict do nothing`, [
    tenantId,
  ]);
  await fillTenant(owner, { tenantId, accounts, events: transactions, services });
  await fillPrices(owner, { tenantId, services });
  await owner.query('vacuum analyze rated_transaction, rated_dimension, account');
  const floorSeconds = await measureSums(owner);
  await product.ask({ do: 'startWorkers' });
  const token = await product.ask<string>({ do: 'token', tenantId });
  const rssBefore = await product.ask<number>({ do: 'memory' });
  const path = `${client.url}/v1/workflows/billing-run`;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const data = { periodStart: '2026-10-01', periodEnd: '2026-10-31' };
  const since = performance.now();
  const body = JSON.stringify({ data, async: true });
  const started = await fetch(`${path}/execute`, { method: 'POST', body, headers });
  const { executionId } = (await started.json()) as { executionId: string };
  let status = 'running';
  let rssMax = rssBefore;
  while (status === 'running') {
    await wait(100);
    rssMax = Math.max(rssMax, await product.ask<number>({ do: 'memory' }));
    // The API would count so many questions.
    const answer = await owner.query<{ status: string }>(
      'select status from execution where tenant_id = $1 and id = $2',
      [tenantId, executionId],
    );
    status = answer.rows[0]?.status ?? status;
  }
  const seconds = (performance.now() - since) / 1000;
  const { rows } = await owner.query<{ billed: number }>(
    `select sum(cardinality(transaction_ids))::integer as billed
     from invoice_usage where tenant_id = $1`,
    [tenantId],
  );
  await owner.end();
  if (status !== 'completed' || rows[0]?.billed !== transactions) {
    throw new Error(`The billing run is ${status}: ${JSON.stringify(rows)}`);
  }
  const [value, floorValue] = [transactions / seconds, transactions / floorSeconds];
  const ratio = value / floorValue;
  const row: BenchRow = {
    id: 'bill',
    value,
    floorValue,
    ratio,
    unit: '/s',
    aim: '>= 0.2',
    isReached: ratio >= 0.2,
    transactions,
    measure:
      `transactions/s of a billing run over ${transactions} of ${accounts} accounts; the process ` +
      `held ${mebibytes(rssBefore)} before and at most ${mebibytes(rssMax)}`,
    floor: '/s insert ... select ... group by of the same rows',
  };
  return [row];
}
