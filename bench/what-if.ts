import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { drain, fillLog } from './rate.js';
import type { BenchRow } from './result.js';
import type { Bench } from './rows.js';

const events = Number(process.env['BENCH_WHAT_IF_EVENTS'] ?? 1_000_000);
/** A million in a minute. */
const aim = 1_000_000 / 60;

const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;

interface Ended {
  readonly seconds: number;
  readonly rssMax: number;
}

/** Runs a what-if of all usage to its end. */
async function runWhatIf({ client, product, services }: Bench, db: pg.Client): Promise<Ended> {
  const data = {
    name: 'More usage',
    from: '2026-10-01',
    to: '2026-11-01',
    serviceIds: services,
    // Every event is rated again, and every counter moves.
    changes: [{ kind: 'usage', factor: 1.1 }],
  };
  const since = performance.now();
  const answer = await fetch(`${client.url}/v1/workflows/reprice/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ data, async: true }),
  });
  const { executionId } = (await answer.json()) as { executionId: string };
  let rssMax = 0;
  for (;;) {
    await wait(100);
    rssMax = Math.max(rssMax, await product.ask<number>({ do: 'memory' }));
    const { rows } = await db.query<{ status: string; events: number }>(
      `select execution.status, (output ->> 'events')::integer as events from execution where id = $1`,
      [executionId],
    );
    const [found] = rows;
    if (found === undefined || found.status === 'running') continue;
    const seconds = (performance.now() - since) / 1000;
    if (found.status !== 'completed' || found.events < events) {
      throw new Error(`The what-if is ${found.status}: ${found.events} events`);
    }
    return { seconds, rssMax };
  }
}

/** Events per second of a what-if, against one statement that reads the same events and charges. */
export async function measureWhatIf(bench: Bench): Promise<BenchRow[]> {
  const db = new pg.Client({ connectionString: bench.databaseUrl });
  await db.connect();
  bench.tell(`rating ${events} events`);
  await bench.product.ask({ do: 'startWorkers' });
  await fillLog(bench, `what-if-${Date.now()}`, events);
  await drain(db);
  await db.query('vacuum analyze usage_event, rated_transaction, usage_message');
  const rssBefore = await bench.product.ask<number>({ do: 'memory' });
  bench.tell('rating them again, beside the books');
  const { seconds, rssMax } = await runWhatIf(bench, db);
  const since = performance.now();
  await db.query(
    `select sum(charge.amount) from usage_event as event
     join rated_transaction as charge
       on charge.tenant_id = event.tenant_id and charge.usage_event_id = event.id
     where event.tenant_id = $1`,
    [bench.tenantId],
  );
  const floorValue = events / ((performance.now() - since) / 1000);
  await bench.product.ask({ do: 'stopWorkers' });
  await db.end();
  const value = events / seconds;
  return [
    {
      id: 'what-if',
      value,
      floorValue,
      ratio: value / floorValue,
      unit: '/s',
      aim: '>= 16,667/s',
      isReached: value >= aim,
      transactions: events,
      measure:
        `events/s of a what-if over ${events} metered events; the process held ` +
        `${mebibytes(rssBefore)} before and at most ${mebibytes(rssMax)}`,
      floor: '/s one join of the same events and charges',
    },
  ];
}
