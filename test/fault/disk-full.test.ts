import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { demoAccount, demoService } from '../../src/cli/demo/demo-catalog.js';
import { KillableProduct } from '../start/killable.js';
import { outcomeOf, tellFigures } from '../start/outcome.js';
import { smallDisk, type SmallDisk } from '../start/small-disk.js';
import { until } from '../start/workbench.js';

const external = '/api/v1/external';
const fullMs = 8_000;
/** Kafka keeps its log on another disk: usage is taken all the time, and rated when there is room. */
const isUsageKept = process.env['TEST_KAFKA_BROKERS'] !== undefined;
/** Some blocks of the disk each, so that no room is left that somebody else has freed. */
const padding = 'x'.repeat(50_000);

describe('on a full disk', function () {
  this.timeout(480_000);
  let disk: SmallDisk;
  let product: KillableProduct;
  let token = '';
  let serviceId = '';

  const send = (path: string, body?: unknown, method = 'POST'): Promise<Response> =>
    product.send(token, path, { body, method });

  before(async () => {
    disk = await smallDisk();
    product = await KillableProduct.start({ folder: disk.folder });
    token = await product.token('full');
    expect((await send(`${external}/accounts`, demoAccount)).status).to.equal(201);
    const service = await send(`${external}/services`, demoService);
    serviceId = ((await service.json()) as { id: string }).id;
  });
  after(async () => {
    await product.close();
    await disk.remove();
  });

  const accepted = new Set<number>();
  let sent = 0;
  const event = (number: number) => ({
    message: {
      externalTransactionId: `full-${number}`,
      serviceId,
      billingAccountRef: 'acme',
      eventTimestamp: '2026-10-05T12:00:00Z',
      padding,
      dimensions: { api_calls: '2', priority: '1', region: 'us' },
    },
  });
  const sendEvent = async (number: number): Promise<number> => {
    const { status } = await send('/v1/ingest/usage', event(number));
    if (status === 200) accepted.add(number);
    return status;
  };

  it('says 503, and 502 for usage, and goes on without a restart when there is room', async () => {
    process.stderr.write(`      ${disk.way}\n`);
    for (let count = 0; count < 20; count += 1) expect(await sendEvent((sent += 1))).to.equal(200);
    const databaseUrl = await product.databaseUrl();
    const [pid] = (await product.processes()).product;
    await disk.fill(databaseUrl);
    const statuses = new Map<number, number>();
    const refused: number[] = [];
    const end = Date.now() + fullMs;
    let answers503 = 0;
    while (Date.now() < end || answers503 === 0) {
      const number = (sent += 1);
      const status = await sendEvent(number);
      if (status !== 200) refused.push(number);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (refused.length === 0 && !isUsageKept) continue;
      const account = { ...demoAccount, externalId: `a-${number}`, number: `A-${number}` };
      const write = await send(`${external}/accounts`, account);
      statuses.set(write.status, (statuses.get(write.status) ?? 0) + 1);
      if (write.status === 503) {
        answers503 += 1;
        expect(write.headers.get('retry-after')).to.match(/^\d+$/);
      }
      await wait(100);
    }
    await disk.makeRoom(databaseUrl);
    const since = Date.now();
    for (const number of refused) {
      await until(async () => (await sendEvent(number)) === 200, 60_000, 'the end of the refusals');
    }
    const recoveredMs = Date.now() - since;
    const summary = async () =>
      (await (await send('/v1/usage-events/summary', undefined, 'GET')).json()) as {
        pending: number;
        rejected: number;
      };
    await until(async () => (await summary()).pending === 0, 90_000, 'rating of all').catch(
      (error: unknown) => {
        throw new Error(`The product said: ${product.output.slice(-3000)}`, { cause: error });
      },
    );
    const outcome = await outcomeOf((sql) => product.query(sql), 'full', accepted);
    const { rated, doubled, lost, counters, volumes } = outcome;
    tellFigures({
      kills: 0,
      sent,
      accepted: accepted.size,
      rated,
      doubled,
      lost,
      recoveredMs,
      answers: JSON.stringify(Object.fromEntries(statuses)),
    });
    expect([...statuses.keys()].filter((status) => ![200, 201, 502, 503].includes(status))).to.eql(
      [],
    );
    expect(answers503).to.be.greaterThan(0);
    expect(refused.length === 0).to.equal(isUsageKept);
    expect((await product.processes()).product).to.deep.equal([pid]);
    expect({ doubled, lost }).to.deep.equal({ doubled: 0, lost: 0 });
    expect(counters).to.equal(volumes);
    expect(Number(counters)).to.equal(2 * rated);
  });
});
