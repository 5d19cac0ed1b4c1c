import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { fillPrices, fillTenant } from '../test/support/servers/fill.js';
import { benchClient } from './fixture.js';
import { median } from './load.js';
import type { BenchRow } from './result.js';
import type { Bench } from './rows.js';

const filling = { tenantId: 'totals', accounts: 10_000, events: 1_000_000, services: 500 };
const aimMs = 50;
const rounds = 40;

/** The days of the month and the services, in pages as large as they may be. */
const path = '/v1/usage?from=2026-10-01&to=2026-11-01&bucket=day&groupBy=service&limit=1000';

/** The same over the charges themselves. */
const factsSql = `
  select date_trunc('day', event_at, 'UTC'), charge.service_id, charge.currency, count(*),
    sum(quantity), sum(amount)
  from usage_event join rated_transaction as charge
    on charge.tenant_id = usage_event.tenant_id and charge.usage_event_id = usage_event.id
  where usage_event.tenant_id = $1 and status = 'rated'
  group by 1, 2, 3 order by 1, 2, 3 limit 1000`;

/** Milliseconds that it takes. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const since = performance.now();
  await work();
  return performance.now() - since;
}

/** Totals of a month by day and service of 1,000,000 events, against the sum over their charges. */
export async function measureTotals(bench: Bench): Promise<BenchRow[]> {
  const { tenantId, events } = filling;
  const db = new pg.Client({ connectionString: bench.databaseUrl });
  await db.connect();
  bench.tell(`filling ${tenantId} with ${events} rated events`);
  await db.query('insert into tenant (id, name) values ($1, $1)', [tenantId]);
  await fillTenant(db, filling);
  await fillPrices(db, filling);
  await db.query('insert into usage_total_rebuild (tenant_id) values ($1)', [tenantId]);
  await db.query('vacuum analyze');
  await bench.product.ask({ do: 'startWorkers' });
  const isMade = async () =>
    (await db.query('select from usage_total_rebuild where tenant_id = $1', [tenantId]))
      .rowCount === 0;
  const made = await timed(async () => {
    while (!(await isMade())) await wait(100);
  });
  bench.tell(`made the totals in ${(made / 1000).toFixed(1)} s`);
  await bench.product.ask({ do: 'stopWorkers' });
  await db.query('vacuum analyze');
  const token = await bench.product.ask<string>({ do: 'token', tenantId });
  const client = benchClient(bench.client.url, token);
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    times.push(await timed(() => client.send('GET', path)));
  }
  const floorTimes: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    floorTimes.push(await timed(() => db.query(factsSql, [tenantId])));
  }
  await db.end();
  const value = median(times);
  const floorValue = median(floorTimes);
  return [
    {
      id: 'totals',
      value,
      floorValue,
      ratio: value / floorValue,
      unit: 'ms',
      transactions: events,
      aim: `p50 < ${aimMs} ms`,
      isReached: value < aimMs,
      measure: `p50 of a month by day and service of ${events} events`,
      floor: 'ms to sum the charges themselves',
    },
  ];
}
