import { expect } from 'chai';
import { setTimeout as wait } from 'node:timers/promises';
import { KillableProduct } from '../start/killable.js';
import { until } from '../start/workbench.js';

type Body = ReturnType<typeof JSON.parse>;

/** When it dies, after the first record, which starts a workflow, was answered. */
const killedAfterMs = [0, 150];
const records = 60;

describe('killed while events start workflows', function () {
  // Several starts of the whole product, on a machine that others use as well.
  this.timeout(600_000);
  let product: KillableProduct;
  before(async () => {
    product = await KillableProduct.start();
  });
  after(() => product.close());

  // spec/beyond.md R337
  for (const afterMs of killedAfterMs) {
    it(`each event starts each workflow once (${afterMs} ms)`, async () => {
      const tenantId = `starts-${afterMs}`;
      const token = await product.token(tenantId);
      // On a busy machine it asks more often than a plan allows.
      await product.query(
        `update tenant set plan = 'enterprise', request_limit = 1000000 where id = '${tenantId}'`,
      );
      const ask = async (path: string, body?: object): Promise<Body> => {
        const response = await product.send(
          token,
          path,
          body === undefined ? { method: 'GET' } : { body },
        );
        return response.json();
      };
      const { id } = await ask('/v1/mobjects', { name: 'things' });
      const document = { dsl: '1.0.0', namespace: 'test', name: 'started', version: '1.0.0' };
      const definition = {
        document,
        schedule: { on: { one: { with: { type: 'mdata.created' } } } },
        do: [{ keep: { set: { n: '${ input.data.n }' } } }],
      };
      const made = await ask('/v1/workflows', { definition });
      const calls = Array.from({ length: records }, (_each, n) =>
        ask(`/v1/mobjects/${id}/mdata`, { data: { n } }),
      );
      await Promise.any(calls);
      await wait(afterMs);
      await product.kill();
      await product.launch();
      await Promise.allSettled(calls);
      const stored = (await ask(`/v1/mobjects/${id}/mdata?limit=100`)).data as Body[];
      expect(stored.length).to.be.greaterThan(0);
      const path = `/v1/workflows/${made.id}/executions?limit=100`;
      let all: Body[] = [];
      await until(
        async () => {
          await wait(1_000);
          all = (await ask(path)).data;
          return all.length >= stored.length && all.every(({ status }) => status === 'completed');
        },
        120_000,
        'the end of all',
      );
      const started = all.map(({ input }) => input.id as string).sort();
      expect(started).to.deep.equal(stored.map((one) => one.id as string).sort());
    });
  }
});
