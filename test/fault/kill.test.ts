import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { demoAccount, demoService } from '../../src/cli/demo/demo-catalog.js';
import { KillableProduct } from '../start/killable.js';
import { outcomeOf, tellFigures } from '../start/outcome.js';
import { until } from '../start/workbench.js';

const external = '/api/v1/external';

/** The whole product under kill -9, as an operator meets it: `npm start` on a folder of its own. */
describe('killed at any moment', function () {
  // Several starts of the whole product, on a machine that others use as well.
  this.timeout(480_000);
  let product: KillableProduct;
  let token = '';
  let serviceId = '';

  const send = (path: string, body?: unknown, method = 'POST'): Promise<Response> =>
    product.send(token, path, { body, method });

  const create = async (path: string, body: object): Promise<string> => {
    const response = await send(`${external}${path}`, body);
    expect(response.status).to.equal(201);
    return ((await response.json()) as { id: string }).id;
  };

  const event = (externalTransactionId: string, calls: number) => ({
    key: externalTransactionId,
    message: {
      externalTransactionId,
      serviceId,
      billingAccountRef: 'acme',
      eventTimestamp: '2026-10-05T12:00:00Z',
      dimensions: { api_calls: String(calls), priority: '1', region: 'us' },
    },
  });

  type Summary = Record<'accepted' | 'rated' | 'duplicate' | 'rejected' | 'pending', number>;

  const summary = async (): Promise<Summary> => {
    const response = await send('/v1/usage-events/summary', undefined, 'GET');
    expect(response.status).to.equal(200);
    return (await response.json()) as Summary;
  };

  const settled = async (): Promise<Summary> => {
    await until(async () => (await summary()).pending === 0, 60_000, 'rating of all events').catch(
      (error: unknown) => {
        throw new Error(`The product said: ${product.output.slice(-3000)}`, {
          cause: error,
        });
      },
    );
    return summary();
  };

  before(async () => {
    product = await KillableProduct.start();
    token = await product.token('kill');
    await create('/accounts', demoAccount);
    serviceId = await create('/services', demoService);
  });
  after(() => product.close());

  // spec/rating.md R55
  it('rates an event once that is sent 50 times at once, and again after kill -9', async () => {
    const fifty = () =>
      Promise.all(Array.from({ length: 50 }, () => send('/v1/ingest/usage', event('once', 1500))));
    const first = await fifty();
    expect(first.map((response) => response.status)).to.deep.equal(Array(50).fill(200));
    await product.kill();
    await product.launch();
    const second = await fifty();
    expect(second.map((response) => response.status)).to.deep.equal(Array(50).fill(200));
    expect(await settled()).to.include({ accepted: 100, rated: 1, duplicate: 99, rejected: 0 });
    const list = await send(`${external}/rated-transactions?q=once`, undefined, 'GET');
    const { data } = (await list.json()) as { data: { totalElements: number } };
    expect(data.totalElements).to.equal(1);
  });

  it('loses and doubles nothing when it dies while events stream, and PostgreSQL with it', async () => {
    const accepted = new Set<number>();
    let sent = 0;
    let isSending = true;
    const sender = async (): Promise<void> => {
      while (isSending) {
        const number = (sent += 1);
        const body = event(`stream-${number}`, 2);
        const response = await send('/v1/ingest/usage', body).catch(() => undefined);
        if (response?.status === 200) accepted.add(number);
        else await wait(20);
      }
    };
    const senders = Array.from({ length: 8 }, sender);
    for (const delayMs of [300, 700, 1100]) {
      await wait(delayMs);
      if (delayMs === 700) await product.killServers();
      await product.kill();
      await product.launch();
    }
    await wait(500);
    isSending = false;
    await Promise.all(senders);
    const counts = await settled();
    const outcome = await outcomeOf((sql) => product.query(sql), 'stream', accepted);
    const { rated, doubled, lost, counters, volumes } = outcome;
    tellFigures({ kills: 4, sent, accepted: accepted.size, rated, doubled, lost });

    expect(accepted.size).to.be.greaterThan(0);
    expect(counts.accepted).to.equal(
      counts.rated + counts.duplicate + counts.rejected + counts.pending,
    );
    // A send whose answer was lost may have been accepted: at least those that were confirmed.
    expect({ doubled, lost }).to.deep.equal({ doubled: 0, lost: 0 });
    // The counter is the sum of what was rated: 1,500 once and 2 for each event of the stream.
    expect(Number(counters)).to.equal(1500 + 2 * rated);
    expect(counters).to.equal(volumes);
  });
});
