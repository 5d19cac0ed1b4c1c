import { expect } from 'chai';
import { setTimeout as wait } from 'node:timers/promises';
import { flowList } from '../../src/schemas/flows/index.js';
import { KillableProduct } from '../start/killable.js';
import { tellFigures } from '../start/outcome.js';
import { makeRecords, rowsOf, starts } from '../support/billing/flow-starts.js';

const external = '/api/v1/external';

/** When it dies, after all flows were sent at once. */
const killedAfterMs = [100, 700];

describe('killed in the middle of every flow', function () {
  // Several starts of the whole product, on a machine that others use as well.
  this.timeout(300_000);
  let product: KillableProduct;
  before(async () => {
    product = await KillableProduct.start();
  });
  after(() => product.close());

  /** Runs all flows, with a kill in between; how many had been answered, and the rows they left. */
  const round = async (tenantId: string, afterMs?: number) => {
    const token = await product.token(tenantId);
    const make = async (path: string, body: object): Promise<string> => {
      const response = await product.send(token, `${external}${path}`, { body });
      const text = await response.text();
      expect(response.status, `${path}: ${text}\n${product.output}`).to.equal(201);
      return (JSON.parse(text) as { id: string }).id;
    };
    const calls = [];
    for (const [workflow, { slug }] of flowList) {
      const body = starts[workflow](await makeRecords(make, `-${workflow}`));
      calls.push(() =>
        product.send(token, `${external}/run/${slug}`, { body, key: `once-${workflow}` }),
      );
    }
    let answered = 0;
    const sent = calls.map((call) =>
      call().then(
        () => (answered += 1),
        () => undefined,
      ),
    );
    if (afterMs !== undefined) {
      await wait(afterMs);
      await product.kill();
      await product.launch();
    }
    await Promise.all(sent);
    // A caller whose answer was lost asks again under the same key.
    for (const call of calls) {
      const response = await call();
      expect(response.status, await response.text()).to.equal(200);
    }
    return { answered, rows: await rowsOf(tenantId, await product.databaseUrl()) };
  };

  // spec/flows.md R31
  it('ends each of them, once', async () => {
    const { rows: expected } = await round('kill-none');
    const answers: number[] = [];
    for (const afterMs of killedAfterMs) {
      const { answered, rows } = await round(`kill-${afterMs}`, afterMs);
      answers.push(answered);
      expect(rows, `killed after ${afterMs} ms`).to.deep.equal(expected);
    }
    tellFigures({
      kills: killedAfterMs.length,
      'after ms': killedAfterMs.join(' and '),
      flows: flowList.length,
      'answered before': answers.join(' and '),
    });
    expect(Math.min(...answers)).to.be.lessThan(flowList.length);
  });
});
