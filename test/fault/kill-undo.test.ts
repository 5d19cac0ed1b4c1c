import { expect } from 'chai';
import { KillableProduct } from '../start/killable.js';
import { documentOf, endOfExecution, makeAccount } from '../start/killed-steps.js';
import { KilledTenant } from '../start/killed-tenant.js';
import { tellFigures } from '../start/outcome.js';
import { until } from '../start/workbench.js';

const tenantId = 'kill-undo';
const endMs = 240_000;
/** How often the product dies with kill -9 while accounts are taken back: DURABILL_KILLS=20 for the long run. */
const kills = Number(process.env['DURABILL_KILLS'] ?? 3);
const count = 24;

/** Makes accounts, and fails. */
const steps = {
  document: documentOf('many'),
  do: [
    {
      each: {
        for: { each: 'x', in: '${ workflow.input.list }' },
        do: [{ made: makeAccount('${ "many-" + string(x) }') }],
      },
    },
    { over: { raise: { error: { type: 'urn:end', status: 409 } } } },
  ],
};

describe('an execution that takes back what it did while the product is killed with -9', function () {
  this.timeout(900_000);
  let product: KillableProduct;
  let tenant: KilledTenant;
  before(async () => {
    product = await KillableProduct.start();
    tenant = await KilledTenant.open(product, tenantId);
    await product.query(
      `update tenant set plan = 'enterprise', request_limit = 1000000 where id = '${tenantId}'`,
    );
    await tenant.call('/v1/workflows', { definition: steps });
  });
  after(() => product.close());

  const undoneOf = async (id: string): Promise<number> => {
    const [row] = await product.query<{ undone: number }>(
      `select count(undone_at)::integer as undone from workflow_task
       where tenant_id = '${tenantId}' and execution_id = '${id}'`,
    );
    return row?.undone ?? 0;
  };

  // spec/beyond.md R396, R415
  it('leaves what was before, over as many histories as it takes', async () => {
    // With this beside each step a history is long after seven of them.
    const text = 'x'.repeat(500_000);
    const list = Array.from({ length: count }, (_each, at) => at);
    const id = await tenant.start('many', { list, text });
    for (let kill = 0; kill < kills; kill += 1) {
      const from = Math.floor(((kill + 0.5) * count) / kills);
      await until(async () => (await undoneOf(id)) >= from, endMs, `${from} of them`);
      await product.kill();
      await product.launch();
    }
    const ended = await endOfExecution(product, { tenantId, id, endMs });
    expect(ended.status).to.equal('failed');
    expect(ended.undone).to.deep.equal(list.map(() => '/do/0/each/do/0/made'));
    expect(await undoneOf(id)).to.equal(count);
    const accounts = await product.query<{ deleted: boolean }>(
      `select deleted_at is not null as deleted from account where tenant_id = '${tenantId}'
         and name like 'many-%'`,
    );
    expect(accounts.map(({ deleted }) => deleted)).to.deep.equal(list.map(() => true));
    tellFigures({ kills, undone: count });
  });
});
