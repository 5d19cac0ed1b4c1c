import { setTimeout as wait } from 'node:timers/promises';
import { openTenant, type BenchClient } from './fixture.js';
import { inTurn, median } from './load.js';
import type { BenchRow } from './result.js';
import type { Bench } from './rows.js';

const external = '/api/v1/external';
/** Many short ones: others use the machine, too, and each is compared with its neighbour. */
const rounds = 9;
const samples = 2;
/** Calls of one execution. */
const calls = 100;
/** Executions that wait: all that a tenant may have. */
const waiting = 10_000;
/** Executions before that end: what starts cost that do not wait. */
const passing = 2_000;
const callers = 8;

/** What they are given. */
const turns = { list: Array.from({ length: calls }, (_each, index) => index) };
const definitionOf = (name: string, task: object): object => ({
  definition: {
    document: { dsl: '1.0.0', namespace: 'bench', name, version: '1.0.0' },
    do: [{ all: task }],
  },
});

interface Ended {
  readonly executionId: string;
  readonly status: string;
  readonly startedAt: string;
  readonly completedAt: string;
}

/** Milliseconds of one call in an execution, p50. */
async function callTime(client: BenchClient, name: string): Promise<number> {
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const path = `/v1/workflows/${name}`;
    const begun = await client.send('POST', `${path}/execute`, { data: turns, async: true });
    const { executionId } = begun as unknown as Ended;
    let ended: Ended;
    do {
      await wait(100);
      const shown = await client.send('GET', `${path}/executions/${executionId}`);
      ended = shown as unknown as Ended;
    } while (ended.status === 'running');
    if (ended.status !== 'completed') throw new Error(JSON.stringify(ended));
    times.push((Date.parse(ended.completedAt) - Date.parse(ended.startedAt)) / calls);
  }
  return median(times);
}

/** Executes a workflow so often, without waiting for its end. */
async function begin(client: BenchClient, name: string, count: number): Promise<void> {
  let begun = 0;
  const caller = async (): Promise<void> => {
    while (begun < count) {
      begun += 1;
      await client.send('POST', `/v1/workflows/${name}/execute`, { data: {}, async: true });
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

/** Waits until so many executions of a workflow are in a state. */
async function until(client: BenchClient, name: string, status: string, count: number) {
  for (;;) {
    const path = `/v1/workflows/${name}/executions?status=${status}&limit=1`;
    const { pagination } = (await client.send('GET', path)) as unknown as {
      pagination: { total: number };
    };
    if (pagination.total >= count) return;
    await wait(200);
  }
}

/** A tenant whose definitions are carried out in the process of the product. */
async function openDefinitions(bench: Bench, tenantId: string): Promise<BenchClient> {
  const { product } = bench;
  await product.ask({ do: 'startWorkers' });
  const client = await openTenant(bench, tenantId);
  await product.ask({ do: 'allowRequests', tenantId });
  return client;
}

const mb = (bytes: number): number => bytes / 2 ** 20;

/** What executions cost that wait, in the memory of the process whose workers have begun them. */
export async function measureWaiting(bench: Bench): Promise<BenchRow[]> {
  const { product, tell } = bench;
  const client = await openDefinitions(bench, 'bench-waiting');
  await client.send('POST', '/v1/workflows', definitionOf('rest', { wait: { days: 1 } }));
  await client.send('POST', '/v1/workflows', definitionOf('pass', { set: { done: true } }));
  await begin(client, 'pass', passing);
  await until(client, 'pass', 'completed', passing);
  const before = mb(await product.ask<number>({ do: 'memory' }));
  tell(`${waiting} executions begin to wait`);
  await begin(client, 'rest', waiting);
  await until(client, 'rest', 'running', waiting);
  const after = mb(await product.ask<number>({ do: 'memory' }));
  const perExecution = ((after - before) * 1024) / waiting;
  const row: BenchRow = {
    id: 'waiting',
    value: after,
    floorValue: before,
    ratio: after / before,
    unit: 'MB',
    aim: '<= 1.1',
    isReached: after / before <= 1.1,
    measure: `resident memory while ${waiting} executions wait, ${perExecution.toFixed(2)} KB each`,
    floor: `MB before, after ${passing} that have ended`,
  };
  return [row];
}

/** A tenant's definition against the same calls written in TypeScript. */
export async function measureDefinition(bench: Bench): Promise<BenchRow[]> {
  const { product } = bench;
  const tenantId = 'bench-definitions';
  const client = await openDefinitions(bench, tenantId);
  const account = { name: 'Acme', externalId: 'acme' };
  const { id: accountId } = await client.send('POST', `${external}/accounts`, account);
  const given = { operationId: 'getAccount', parameters: { accountId } };
  const loop = {
    for: { in: '${ input.list }' },
    do: [{ look: { call: 'durabill.operation', with: given, output: { as: '${ input }' } } }],
  };
  const { id: definitionId } = await client.send(
    'POST',
    '/v1/workflows',
    definitionOf('calls', loop),
  );
  const written = (count: number) =>
    product.ask<number>({ do: 'callInTurn', tenantId, definitionId, calls, given, samples: count });
  await callTime(client, 'calls');
  await written(1);
  const time = await inTurn(
    rounds,
    () => callTime(client, 'calls'),
    () => written(samples),
  );
  const row: BenchRow = {
    id: 'workflow',
    value: time.a,
    floorValue: time.b,
    ratio: time.ratio,
    unit: 'ms',
    aim: '<= 1.5',
    isReached: time.ratio <= 1.5,
    measure: `each of ${calls} calls of a definition, with its expression and its timeline`,
    floor: 'ms the same call in a workflow written in TypeScript',
  };
  return [row];
}
