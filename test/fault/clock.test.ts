import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { demoAccount, demoService } from '../../src/cli/demo/demo-catalog.js';
import { KillableProduct } from '../start/killable.js';
import { outcomeOf, tellFigures } from '../start/outcome.js';
import { makeFolder, removeFolder, until } from '../start/workbench.js';

const external = '/api/v1/external';
const hours = 3_600_000;
const readEveryMs = 50;

/** Loaded by the product before all else: its clock goes wrong by what a file says. */
const wrongClock = (file: string): string => `
  import { readFileSync } from 'node:fs';
  const RealDate = Date;
  let wrongBy = 0;
  const read = () => { try { wrongBy = Number(readFileSync(${JSON.stringify(file)}, 'utf8')); } catch {} };
  setInterval(read, ${readEveryMs}).unref();
  globalThis.Date = class Date extends RealDate {
    constructor(...given) { given.length === 0 ? super(RealDate.now() + wrongBy) : super(...given); }
    static now() { return RealDate.now() + wrongBy; }
  };`;

describe('when the clock of the process jumps', function () {
  this.timeout(480_000);
  let folder: string;
  let product: KillableProduct;
  let token = '';
  let serviceId = '';
  before(async () => {
    folder = await makeFolder();
    const module = join(folder, 'clock.mjs');
    await writeFile(module, wrongClock(join(folder, 'wrong-by')));
    product = await KillableProduct.start({ env: { NODE_OPTIONS: `--import=${module}` } });
    // Longer than the jumps: a token that has expired by the clock of the instance is refused.
    token = await product.token('clock', '30d');
    expect((await send(`${external}/accounts`, demoAccount)).status).to.equal(201);
    serviceId = ((await (await send(`${external}/services`, demoService)).json()) as { id: string })
      .id;
  });
  after(async () => {
    await product.close();
    await removeFolder(folder);
  });

  const send = (path: string, body?: unknown, method = 'POST'): Promise<Response> =>
    product.send(token, path, { body, method });
  const statusOf = async (path: string, body?: unknown, method?: string): Promise<string> =>
    `${path}: ${(await send(path, body, method)).status}`;

  const setClock = async (wrongBy: number): Promise<void> => {
    await writeFile(join(folder, 'wrong-by'), String(wrongBy));
    await wait(3 * readEveryMs);
  };

  it('usage is rated once, and flows end, ahead and behind', async () => {
    const accepted = new Set<number>();
    let sent = 0;
    const answers: string[] = [];
    const jumps = [0, 49, -49, 1, -1, 0];
    for (const [index, jump] of jumps.entries()) {
      await setClock(jump * hours);
      // Each number once before this jump, and once after it.
      for (const number of Array.from({ length: 20 }, (_each, each) => sent - 10 + each)) {
        if (number < 0) continue;
        const { status } = await send('/v1/ingest/usage', {
          message: {
            externalTransactionId: `clock-${number}`,
            serviceId,
            billingAccountRef: 'acme',
            eventTimestamp: '2026-10-05T12:00:00Z',
            dimensions: { api_calls: '2', priority: '1', region: 'us' },
          },
        });
        if (status === 200) accepted.add(number);
        else answers.push(`usage: ${status}`);
      }
      sent += 10;
      const name = `flow-${index}`;
      answers.push(
        await statusOf(`${external}/run/billing/service/create`, { name, currency_id: 'USD' }),
        await statusOf(`${external}/accounts`, undefined, 'GET'),
      );
      const isRated = async () => {
        const response = await send('/v1/usage-events/summary', undefined, 'GET');
        return ((await response.json()) as { pending: number }).pending === 0;
      };
      await until(isRated, 30_000, `rating, ${jump} h wrong`);
    }
    const outcome = await outcomeOf((sql) => product.query(sql), 'clock', accepted);
    const { rated, doubled, lost, counters, volumes } = outcome;
    tellFigures({
      'clock wrong by hours': jumps.join(' '),
      kills: 0,
      accepted: accepted.size,
      rated,
      doubled,
      lost,
    });
    expect(answers.filter((answer) => !answer.endsWith(': 200'))).to.deep.equal([]);
    expect({ doubled, lost, rated }).to.deep.equal({ doubled: 0, lost: 0, rated: accepted.size });
    expect(accepted.size).to.equal(sent);
    expect(counters).to.equal(volumes);
    expect(Number(counters)).to.equal(2 * rated);
  });
});
