import { accountRef } from './fixture.js';
import { inTurn, measureCalls, median } from './load.js';
import type { BenchRow } from './result.js';
import type { Bench } from './rows.js';

const rounds = 3;
const samples = 200;
const callers = 50;
const calls = callers * 20;
const path = '/api/v1/external/run/billing/payment/create';

/** What a run of empty workflows took: see `measureEmptyWorkflow` of the product. */
interface EmptyWorkflows {
  readonly p50: number;
  readonly perSecond: number;
}

let payments = 0;
const payment = () => ({
  account_id: accountRef(0),
  amount: 12.5,
  currency_id: 'USD',
  payment_date: '2026-04-30',
  payment_method: 'Cash',
  payment_reference: `bench-${Date.now()}-${(payments += 1)}`,
});

/** Milliseconds of one payment after the other, p50. */
async function paymentTime({ client }: Bench): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < samples; index += 1) {
    const since = performance.now();
    await client.send('POST', path, payment());
    times.push(performance.now() - since);
  }
  return median(times.slice(Math.floor(samples / 10)));
}

/** Payments of one batch, and how many batches are sent after each other. */
const batchSize = 1_000;
const batches = 3;

/** Payments per second of batches, each of which is one workflow. */
async function batchRate({ client }: Bench): Promise<number> {
  const since = performance.now();
  for (let batch = 0; batch < batches; batch += 1) {
    const data = Array.from({ length: batchSize }, payment);
    const answer = (await client.send('POST', `${path}/batch`, { data })) as unknown as {
      failed: number;
    };
    if (answer.failed > 0) throw new Error(`${answer.failed} payments of a batch failed.`);
  }
  return (batches * batchSize * 1_000) / (performance.now() - since);
}

/** Saving a payment as a durable workflow, against a workflow that does nothing. */
export async function measureFlow(bench: Bench): Promise<BenchRow[]> {
  const { client, product } = bench;
  await product.ask({ do: 'startWorkers' });
  const empty = (count: number, parallel: number) =>
    product.ask<EmptyWorkflows>({ do: 'emptyWorkflow', count, callers: parallel });
  const time = await inTurn(
    rounds,
    () => paymentTime(bench),
    async () => (await empty(samples, 1)).p50,
  );
  const load = await inTurn(
    rounds,
    () =>
      measureCalls({
        url: `${client.url}${path}`,
        token: client.token,
        connections: callers,
        count: calls,
        method: 'POST',
        body: () => JSON.stringify(payment()),
      }),
    async () => (await empty(calls, callers)).perSecond,
  );
  const batch = await inTurn(
    rounds,
    () => batchRate(bench),
    async () => (await empty(calls, callers)).perSecond,
  );
  return [
    {
      id: 'flow (batch)',
      value: batch.a,
      floorValue: batch.b,
      ratio: batch.ratio,
      unit: '/s',
      aim: '>= 600/s',
      isReached: batch.a >= 600,
      measure: `payments per second of POST /run/billing/payment/create/batch, ${batchSize} each`,
      floor: '/s eager empty workflow, execute',
    },
    {
      id: 'flow (p50)',
      value: time.a,
      floorValue: time.b,
      ratio: time.ratio,
      unit: 'ms',
      aim: '<= 2',
      isReached: time.ratio <= 2,
      measure: 'p50 of POST /run/billing/payment/create, one caller',
      floor: 'ms eager empty workflow',
    },
    {
      id: 'flow (50 callers)',
      value: load.a,
      floorValue: load.b,
      ratio: load.ratio,
      unit: '/s',
      aim: '>= 0.8',
      isReached: load.ratio >= 0.8,
      measure: `POST /run/billing/payment/create per second, ${callers} callers`,
      floor: '/s eager empty workflow, execute',
    },
  ];
}
