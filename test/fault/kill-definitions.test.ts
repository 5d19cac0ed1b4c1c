import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { KillableProduct } from '../start/killable.js';
import {
  documentOf,
  endOfExecution,
  firstSteps,
  lastSteps,
  makeAccount,
  named,
} from '../start/killed-steps.js';
import { KilledTenant } from '../start/killed-tenant.js';
import { tellFigures } from '../start/outcome.js';
import { until } from '../start/workbench.js';

const tenantId = 'kill-definitions';
/** How often the product dies with kill -9 while they run: DURABILL_KILLS=100 for the long run. */
const kills = Number(process.env['DURABILL_KILLS'] ?? 3);
/** Executions that are begun before each kill: one after the other, so that each is elsewhere. */
const perKill = 12;
const endMs = 240_000;

/** A step of each kind between which there is something to lose. */
const steps = {
  document: documentOf('steps'),
  do: [
    ...firstSteps,
    {
      side: {
        fork: { branches: [{ left: makeAccount(named('left')) }, { rest: { wait: 'PT0.2S' } }] },
      },
    },
    {
      tell: {
        emit: {
          event: { with: { type: 'custom.killed', data: { key: '${ workflow.input.key }' } } },
        },
      },
    },
    {
      again: {
        try: [{ stop: { raise: { error: { type: 'urn:again', status: 409 } } } }],
        catch: {
          retry: { delay: { milliseconds: 100 }, limit: { attempt: { count: 2 } } },
          do: [{ go: { set: { tried: true } } }],
        },
      },
    },
    { last: makeAccount(named('last')) },
    ...lastSteps,
  ],
};
const heard = {
  document: documentOf('heard'),
  schedule: { on: { one: { with: { type: 'custom.killed' } } } },
  do: [{ note: { set: { key: '${ input.key }' } } }],
};
const parts = ['first', 'each-a', 'each-b', 'left', 'last'];

describe('workflows of a tenant while the product is killed with -9', function () {
  this.timeout(900_000);
  let product: KillableProduct;
  let tenant: KilledTenant;
  before(async () => {
    product = await KillableProduct.start();
    tenant = await KilledTenant.open(product, tenantId);
    await product.query(
      `update tenant set plan = 'enterprise', request_limit = 1000000 where id = '${tenantId}'`,
    );
    for (const definition of [steps, heard]) await tenant.call('/v1/workflows', { definition });
  });
  after(() => product.close());

  const begin = async (key: string): Promise<string> => {
    const fails = key.endsWith('fails');
    return tenant.start('steps', { key, fails });
  };
  const endOf = (id: string) => endOfExecution(product, { tenantId, id, endMs });
  /** What tasks did, in their order; what a kill cuts short is written again under its number. */
  const timelineOf = (id: string) =>
    product.query<object>(
      `select seq, path, status from workflow_task
       where tenant_id = '${tenantId}' and execution_id = '${id}' order by seq`,
    );
  const accountsOf = async (key: string): Promise<string[]> => {
    const rows = await product.query<{ name: string; terms: string }>(
      `select name, net_term as terms from account where tenant_id = '${tenantId}'
         and deleted_at is null and name like '%-${key}' order by name`,
    );
    return rows.map(({ name, terms }) => `${name} ${terms}`);
  };
  const withTerms = (key: string): string[] =>
    parts.map((part) => `${part}-${key} ${part === 'first' ? 'Net 45' : 'null'}`).sort();

  // spec/beyond.md R330, R332, R396
  it('do each step once, and those that fail leave what was before', async () => {
    const quiet = { works: await begin('quiet-works'), fails: await begin('quiet-fails') };
    expect(await endOf(quiet.works)).to.deep.equal({
      status: 'completed',
      output: { key: 'quiet-works' },
      undone: null,
    });
    const undone = ['/do/6/last', '/do/3/side/fork/branches/0/left', '/do/2/each/do/0/made'];
    const all = [...undone, '/do/2/each/do/0/made', '/do/0/first'];
    expect(await endOf(quiet.fails)).to.deep.include({ status: 'failed', undone: all });
    expect(await accountsOf('quiet-works')).to.deep.equal(withTerms('quiet-works'));
    const begun: { key: string; id: string }[] = [];
    for (let kill = 0; kill < kills; kill += 1) {
      for (let index = 0; index < perKill; index += 1) {
        const key = `${kill}-${index}-${index % 2 === 0 ? 'works' : 'fails'}`;
        begun.push({ key, id: await begin(key) });
        await wait(Math.random() * 150);
      }
      await product.kill();
      await product.launch();
    }
    for (const { key, id } of begun) {
      const fails = key.endsWith('fails');
      const { status, output, undone: taken } = await endOf(id);
      expect(status, key).to.equal(fails ? 'failed' : 'completed');
      expect(fails ? taken : output, key).to.deep.equal(fails ? all : { key });
      expect(await accountsOf(key), key).to.deep.equal(fails ? [] : withTerms(key));
      const expected = await timelineOf(fails ? quiet.fails : quiet.works);
      expect(await timelineOf(id), key).to.deep.equal(expected);
    }
    // Each has told of itself once, and what hears it was executed once.
    const keys = ['quiet-works', 'quiet-fails', ...begun.map(({ key }) => key)].sort();
    const told = () =>
      product.query<{ key: string }>(
        `select output ->> 'key' as key from execution join workflow_definition as definition
           on definition.tenant_id = execution.tenant_id and name = 'heard'
             and workflow = 'runDefinition/' || definition.id
         where execution.tenant_id = '${tenantId}' and status = 'completed' order by 1`,
      );
    await until(async () => (await told()).length >= keys.length, endMs, 'what hears them');
    expect((await told()).map(({ key }) => key).sort()).to.deep.equal(keys);
    tellFigures({ kills, executions: begun.length });
  });
});
