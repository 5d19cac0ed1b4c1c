import { request, type IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { createAccounts, createServices, openTenant, UsageMaker } from '../fixture.js';
import type { BenchClient } from '../fixture.js';
import type { BenchRow } from '../result.js';
import type { Bench } from '../rows.js';
import { budgetRow } from './shown.js';

/** As many as a process takes, of tenants that have as many as each may have. */
const tenants = 10;
const streamsOfEach = 500;
const streams = tenants * streamsOfEach;
const seconds = 60;
/** Rounds of usage before anything is measured. */
const roundsBefore = 100;

/** What counts as nothing (docs/decisions/0530): of memory and of one processor. */
const budget = { megabytes: 150, idlePercent: 2, toldPercent: 25 };

interface Streams {
  /** How many events they were told in all. */
  told(): number;
  close(): void;
}

/** Opens the streams of some tenants, which stay open. */
async function openStreams(clients: readonly BenchClient[]): Promise<Streams> {
  const open: IncomingMessage[] = [];
  let told = 0;
  const listen = ({ url, token }: BenchClient): Promise<void> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` };
      request(`${url}/v1/changes?seconds=3600`, { headers, agent: false }, (answer) => {
        open.push(answer);
        // Those that are closed at the end.
        answer.on('error', () => undefined);
        answer.on('data', (chunk: Buffer) => {
          if (chunk.includes('"usage":true')) told += 1;
        });
        if (answer.statusCode === 200) resolve();
        else reject(new Error(`A stream is refused: ${answer.statusCode}`));
      })
        .on('error', reject)
        .end();
    });
  for (const client of clients) {
    await Promise.all(Array.from({ length: streamsOfEach }, () => listen(client)));
  }
  return { told: () => told, close: () => open.forEach(({ socket }) => socket.end()) };
}

/** Tenants with an account and a service, and what sends an event of each. */
async function openTenants(bench: Bench) {
  const { product } = bench;
  const all = [];
  for (let index = 0; index < tenants; index += 1) {
    const tenantId = `bench-streams-${index}`;
    const client = await openTenant(bench, tenantId);
    await product.ask({ do: 'allowRequests', tenantId });
    await createAccounts(client, 1);
    const maker = new UsageMaker(`streams-${index}`, await createServices(client, 1), 1);
    const send = () => client.send('POST', '/v1/ingest/usage', maker.next());
    all.push({ client, send });
  }
  return all;
}

/** Percent of a processor that the process uses for a minute, and the megabytes that it holds then. */
async function watchProcess({ product }: Bench, everySecond: () => Promise<unknown>) {
  const used = () => product.ask<number>({ do: 'processorSeconds' });
  const [before, since] = [await used(), performance.now()];
  for (let second = 1; second <= seconds; second += 1) {
    await everySecond();
    await wait(Math.max(0, since + second * 1_000 - performance.now()));
  }
  const passed = (performance.now() - since) / 1_000;
  return {
    percent: (((await used()) - before) / passed) * 100,
    megabytes: (await product.ask<number>({ do: 'memory' })) / 1_000_000,
  };
}

/** What a process uses for thousands of pages that are open: while nothing happens, and while usage comes. */
export async function measureStreams(bench: Bench): Promise<BenchRow[]> {
  const { product, tell } = bench;
  await product.ask({ do: 'startWorkers' });
  const all = await openTenants(bench);
  const rest = () => Promise.resolve();
  const sendEach = () => Promise.all(all.map(({ send }) => send()));
  tell('console: a minute with usage, and one without, before streams are open');
  // What runs for the first time is compiled.
  for (let round = 0; round < roundsBefore; round += 1) await sendEach();
  const busyBefore = await watchProcess(bench, sendEach);
  const idleBefore = await watchProcess(bench, rest);
  tell(`console: the same with ${streams} streams`);
  const open = await openStreams(all.map(({ client }) => client));
  const idle = await watchProcess(bench, rest);
  const toldBefore = open.told();
  const busy = await watchProcess(bench, sendEach);
  const told = open.told() - toldBefore;
  open.close();
  if (told < streams) throw new Error(`${streams} streams were told ${told} events`);
  const of = `${streams} streams of ${tenants} tenants`;
  const more = (now: number, before: number): number => Math.max(0, now - before);
  return [
    budgetRow(
      'streams, memory',
      // A busy minute leaves garbage behind, with streams and without.
      Math.max(
        more(idle.megabytes, idleBefore.megabytes),
        more(busy.megabytes, busyBefore.megabytes),
      ),
      'MB',
      budget.megabytes,
      `more that the process holds with ${of}, after a minute of rest or of usage ` +
        `(${Math.round(idleBefore.megabytes)} and ${Math.round(busyBefore.megabytes)} MB before)`,
    ),
    budgetRow(
      'streams, idle',
      more(idle.percent, idleBefore.percent),
      '%',
      budget.idlePercent,
      `more of one processor with ${of} (${idleBefore.percent.toFixed(1)} % before)`,
    ),
    budgetRow(
      'streams, usage',
      more(busy.percent, busyBefore.percent),
      '%',
      budget.toldPercent,
      `the same while each tenant has an event a second and they are told ` +
        `${Math.round(told / seconds)} a second (${busyBefore.percent.toFixed(1)} % without them)`,
    ),
  ];
}
