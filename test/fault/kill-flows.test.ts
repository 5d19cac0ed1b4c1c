import { expect } from 'chai';
import { setTimeout as wait } from 'node:timers/promises';
import { flowList } from '../../src/schemas/flows/index.js';
import { KillableProduct } from '../start/killable.js';
import { tellFigures } from '../start/outcome.js';
import { until } from '../start/workbench.js';
import { makeRecords, rowsOf, starts } from '../support/billing/flow-starts.js';

const external = '/api/v1/external';

/** When it dies, after all flows were sent at once. */
const killedAfterMs = [100, 700];

describe('killed in the middle of every flow', function () {
  // Several starts of the whole product, on a machine that others use as well.
  this.timeout(600_000);
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

  // spec/flows.md R31
  it('and of a batch: each payment is saved once, and every answer is there', async () => {
    const token = await product.token('kill-batch');
    const accounts = `${external}/accounts`;
    const made = await product.send(token, accounts, { body: { name: 'P', externalId: 'payer' } });
    expect(made.status).to.equal(201);
    const data = Array.from({ length: 1_000 }, (_each, index) => ({
      account_id: 'payer',
      amount: 1.25,
      currency_id: 'USD',
      payment_date: '2026-04-30',
      payment_method: 'Cash',
      payment_reference: `K-${index}`,
    }));
    const path = `${external}/run/billing/payment/create/batch`;
    const send = () => product.send(token, path, { body: { data }, key: 'once' });
    const lost = send().then(
      () => 'answered',
      () => 'lost',
    );
    const countSaved = async (): Promise<number> => {
      const [found] = await product.query<{ count: string }>(
        `select count(*) from payment where tenant_id = 'kill-batch'`,
      );
      return Number(found?.count);
    };
    await until(async () => (await countSaved()) > 0, 60_000, 'the first payments');
    await product.kill();
    const saved = await countSaved();
    expect(saved).to.be.lessThan(1_000);
    await product.launch();
    expect(await lost).to.equal('lost');
    tellFigures({ 'payments saved before the kill': saved });
    // A machine that is slow comes to the end of the wait for an answer first: the same is asked again.
    let answer = await send();
    for (const deadline = Date.now() + 120_000; answer.status === 504 && Date.now() < deadline;) {
      answer = await send();
    }
    expect(answer.status).to.equal(200);
    const body = (await answer.json()) as { completed: number; data: { output: object }[] };
    expect(body.completed).to.equal(1_000);
    expect(body.data[999]?.output).to.include({ paymentReference: 'K-999' });
    const { data: listed } = (await (
      await product.send(token, `${external}/payments?size=1`, { method: 'GET' })
    ).json()) as { data: { totalElements: number } };
    expect(listed.totalElements).to.equal(1_000);
  });
});
