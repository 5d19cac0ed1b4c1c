import { expect } from 'chai';
import { tellFigures } from '../start/outcome.js';
import { itemLines, invoicesOf, runBilling } from '../support/billing/billing-run.js';
import { external, type TestTenant } from '../support/servers/instance.js';
import { afterEachActivity } from '../support/servers/activities.js';
import { asOwner } from '../support/servers/rows.js';
import { useInstance } from '../support/servers/use-instance.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';

const tables = ['invoice', 'invoice_item', 'recurring_charge', 'invoice_document', 'audit'];

describe('a billing run, when the n-th step fails after its commit', () => {
  /** Which step fails; 0 for none. */
  let failing = 0;
  let steps = 0;
  const instance = useInstance({
    withWorkers: true,
    activityInterceptors: afterEachActivity(() => {
      steps += 1;
      if (steps === failing) throw new Error('The worker died after the commit.');
    }),
  });

  const prepare = async (): Promise<TestTenant> => {
    const tenant = await instance.tenant();
    const calls = await createService(tenant, 'Calls');
    const plan = await createService(tenant, 'Plan', { serviceType: 'Subscription' });
    for (const name of ['one', 'two', 'three']) {
      const masterAccountId = await createAccount(tenant, name);
      const services = [{ serviceId: plan, startDate: '2026-03-01' }];
      await tenant.post(`${external}/contracts`, { masterAccountId, services }).expect(201);
      await send(tenant, usage(name, calls));
    }
    await waitUntilRated(tenant, 3);
    return tenant;
  };

  const rowsOf = (tenant: TestTenant): Promise<Record<string, string | undefined>> =>
    asOwner(instance.databaseUrl, async (client) => {
      const counts: Record<string, string | undefined> = {};
      for (const table of tables) {
        const { rows } = await client.query<{ count: string }>(
          `select count(*) from ${table} where tenant_id = $1`,
          [tenant.id],
        );
        counts[table] = rows[0]?.count;
      }
      return counts;
    });

  it('leaves the same rows, and its output tells of them', async () => {
    const run = async (nth: number) => {
      const tenant = await prepare();
      steps = 0;
      failing = nth;
      const output = await runBilling(tenant, '2026-03-01', '2026-03-31');
      failing = 0;
      const invoices = await invoicesOf(tenant, output);
      return {
        lines: invoices.map((invoice) => [invoice.invoiceNo, ...itemLines(invoice)]),
        rows: await rowsOf(tenant),
      };
    };
    const expected = await run(0);
    const count = steps;
    expect(expected.lines).to.have.length(3);
    expect(expected.rows).to.include({ invoice: '3', invoice_item: '6', invoice_document: '3' });
    // Begin, accounts, batch, files, end.
    expect(count).to.equal(5);
    for (let nth = 1; nth <= count; nth += 1) {
      expect(await run(nth), `step ${nth} of ${count}`).to.deep.equal(expected);
    }
    tellFigures({ 'steps failed after their commit': count, invoices: expected.lines.length });
  }).timeout(240_000);
});
