/**
 * The neighbour, in a process of its own, so that what the attacker's client computes does not count
 * as time of the product. Requests go out at an even rate whether or not earlier ones were answered:
 * a product that stops for a second delays all that were due in it.
 */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import type { NeighbourTask, Taken } from './neighbour.js';

const everyMs = 20;
const flowEveryMs = 1_000;
const diskEveryMs = 100;
const giveUpMs = 30_000;
/** From here on, a request that has no answer yet counts as one that took so long. */
const waitingMs = 250;

const delay = monitorEventLoopDelay({ resolution: 5 });

function serve(task: NeighbourTask): void {
  const options = { headersTimeout: giveUpMs, bodyTimeout: giveUpMs };
  const pool = new Pool(task.url, { ...options, connections: 64, pipelining: 1 });
  const nothing = (): Taken => ({ millis: {}, faults: {}, lagMs: 0, diskMs: [] });
  let taken = nothing();
  const underWay = new Set<{ readonly kind: string; readonly since: number }>();
  let count = 0;

  const note = (kind: string, millis: number): void => {
    (taken.millis[kind] ??= []).push(millis);
  };
  const fault = (text: string): void => {
    taken.faults[text] = (taken.faults[text] ?? 0) + 1;
  };

  const send = async (path: string, body?: object, client = pool) => {
    const response = await client.request({
      path,
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${task.token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    if (response.statusCode > 299) throw new Error(`${response.statusCode}: ${text.slice(0, 160)}`);
    return text;
  };

  /** Does one thing, and notes how long it took or why it failed. */
  const timed = async (kind: string, work: () => Promise<unknown>): Promise<void> => {
    const since = performance.now();
    const mark = { kind, since };
    underWay.add(mark);
    try {
      await work();
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      fault(`${kind} ${code ?? message}`);
    } finally {
      underWay.delete(mark);
      note(kind, performance.now() - since);
    }
  };

  const usage = (id: string): object => ({
    key: id,
    message: {
      externalTransactionId: id,
      serviceId: task.serviceId,
      eventTimestamp: '2026-10-05T12:00:00Z',
      billingAccountRef: task.accountRef,
      dimensions: { api_calls: '2' },
    },
  });
  const isRated = async (id: string): Promise<void> => {
    await send('/v1/ingest/usage', usage(id));
    const end = Date.now() + giveUpMs;
    while (Date.now() < end) {
      const found = await send(`/v1/usage-events/${id}`).catch(() => '');
      if (found.includes('"status":"rated"')) return;
      await wait(25);
    }
    throw new Error('not rated');
  };
  const overNewConnection = async (): Promise<void> => {
    const own = new Pool(task.url, { ...options, connections: 1 });
    try {
      await send('/healthz', undefined, own);
    } finally {
      await own.destroy();
    }
  };

  const simple: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['get', () => send(`/api/v1/external/accounts/${task.accountId}`)],
    ['list', () => send('/api/v1/external/accounts?size=20')],
    ['ingest', () => send('/v1/ingest/usage', usage(`n-${process.pid}-${count}`))],
    ['service', () => send(`/api/v1/external/services/${task.serviceId}`)],
    ['health', overNewConnection],
  ];
  const payment = (): object => ({
    accountId: task.accountId,
    currency: 'USD',
    amount: 1,
    paymentDate: '2026-10-05',
    paymentReference: `n-${process.pid}-${count}`,
    paymentMethod: 'ACH',
    paymentType: 'Pay In',
  });
  const slow: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['flow', () => send('/api/v1/external/payments', payment())],
    ['rated', () => isRated(`r-${process.pid}-${count}`)],
  ];
  const slowUnderWay = new Set<string>();

  const tick = (): void => {
    count += 1;
    const [kind, work] = simple[count % simple.length] ?? simple[0] ?? ['get', () => send('/')];
    // A neighbour with a thousand waiting requests would be an attacker himself.
    if (underWay.size < 500) void timed(kind, work);
    for (const [index, [name, slowly]] of slow.entries()) {
      const every = flowEveryMs / everyMs;
      if (count % every !== Math.floor((index * every) / slow.length)) continue;
      if (slowUnderWay.has(name)) continue;
      slowUnderWay.add(name);
      void timed(name, slowly).finally(() => slowUnderWay.delete(name));
    }
  };

  void watchDisk(task.folder, (millis) => taken.diskMs.push(millis));
  const since = performance.now();
  let due = 0;
  setInterval(() => {
    const now = Math.floor((performance.now() - since) / everyMs);
    for (; due < now; due += 1) tick();
  }, everyMs);

  process.on('message', (message) => {
    if (message === 'take') {
      taken.lagMs = delay.percentile(99) / 1e6;
      // Those that still wait have waited for so long at least.
      for (const { kind, since: sent } of underWay) {
        const age = performance.now() - sent;
        if (age > waitingMs) note(kind, age);
      }
      process.send?.(taken);
    }
    taken = nothing();
    delay.reset();
  });
}

/** Notes how long the disk takes to keep a page, as the log of the database does with each commit. */
async function watchDisk(folder: string, note: (millis: number) => void): Promise<never> {
  const file = await open(join(folder, 'disk-probe'), 'w');
  const page = Buffer.alloc(8_192);
  for (;;) {
    const since = performance.now();
    await file.write(page, 0, page.length, 0);
    await file.datasync();
    note(performance.now() - since);
    await wait(diskEveryMs);
  }
}

delay.enable();
process.once('message', (task) => serve(task as NeighbourTask));
process.once('disconnect', () => process.exit(0));
process.send?.('ready');
