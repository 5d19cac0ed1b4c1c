import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { accountRef, createAccounts, createServices, openTenant } from './fixture.js';
import { median } from './load.js';
import type { BenchRow } from './result.js';
import type { Bench } from './rows.js';

const alertCount = 5;
const thresholdsEach = 20;
const aimMs = 100;

/** What is sent to webhooks, one after the other. */
async function openReceiver() {
  let arrived: () => void = () => undefined;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.end();
      arrived();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    next: () => new Promise<void>((resolve) => (arrived = resolve)),
    close: () => server.close(),
  };
}

/** From ingestion to the webhook of a threshold, idle: its rating and its delivery are two workflows. */
export async function measureAlert(bench: Bench): Promise<BenchRow[]> {
  const { product } = bench;
  await product.ask({ do: 'startWorkers' });
  const client = await openTenant(bench, 'bench-alert');
  const [accountId] = await createAccounts(client, 1);
  const [serviceId] = await createServices(client, 1);
  const receiver = await openReceiver();
  const webhook = { url: receiver.url, events: ['alert.triggered'], secret: 'of the bench' };
  await client.send('POST', '/v1/webhooks', webhook);
  for (let alert = 0; alert < alertCount; alert += 1) {
    // Each call is one more threshold of one of them.
    const thresholds = Array.from(
      { length: thresholdsEach },
      (_each, index) => 1 + alert + index * alertCount,
    );
    await client.send('POST', '/v1/alerts', {
      name: `Calls ${alert}`,
      accountId,
      measure: 'quantity',
      serviceId,
      attribute: 'api_calls',
      period: 'Lifetime',
      thresholds,
    });
  }
  const times: number[] = [];
  for (let sent = 0; sent < alertCount * thresholdsEach; sent += 1) {
    const told = receiver.next();
    const since = performance.now();
    await client.send('POST', '/v1/ingest/usage', {
      message: {
        externalTransactionId: `alert-${sent}`,
        serviceId,
        eventTimestamp: new Date().toISOString(),
        billingAccountRef: accountRef(0),
        dimensions: { api_calls: '1' },
      },
    });
    await told;
    times.push(performance.now() - since);
  }
  receiver.close();
  const empty = { do: 'emptyWorkflow', count: times.length, callers: 1 };
  const floorValue = 2 * (await product.ask<{ p50: number }>(empty)).p50;
  const value = median(times);
  return [
    {
      id: 'alert',
      value,
      floorValue,
      ratio: value / floorValue,
      unit: 'ms',
      aim: `<= ${aimMs} ms`,
      measure: 'p50 from ingest to the webhook of a threshold, idle',
      floor: 'ms two eager empty workflows',
      isReached: value <= aimMs,
    },
  ];
}
