import { expect } from 'chai';
import { until } from '../start/workbench.js';
import {
  executeRun,
  fiveAccounts,
  smallSizes,
  type RunOutput,
} from '../support/billing/billing-run.js';
import { historiesOf, workflowIdOf } from '../support/servers/histories.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import { asOwner } from '../support/servers/rows.js';

/** No currency has such a code, so amounts in it cannot be written. */
const spoil = `
  update invoice set currency = '?' where (tenant_id, id) in (
    select tenant_id, id from invoice where tenant_id = $1 order by id limit 2)`;

describe('the PDFs of a large billing run', function () {
  // Histories are continued, and PDFs are rendered one at a time.
  this.timeout(120_000);
  let instance: TestInstance;
  let tenant: TestTenant;
  let rendered = 0;
  before(async () => {
    instance = await openTestInstance({
      withWorkers: true,
      billing: { ...smallSizes, renders: 1 },
      activityInterceptors: [
        (context) => ({
          inbound: {
            async execute(input, next): Promise<unknown> {
              if (context.info.activityType === 'renderInvoicesAfter') {
                if (rendered === 0) {
                  await asOwner(instance.databaseUrl, (client) => client.query(spoil, [tenant.id]));
                }
                rendered += 1;
              }
              return next(input);
            },
          },
        }),
      ],
    });
    tenant = await instance.tenant();
  });
  after(() => instance.close());

  it('are all made, whatever cannot be rendered before them, over several histories', async () => {
    await fiveAccounts(tenant);
    const march = { periodStart: '2026-03-01', periodEnd: '2026-03-31' };
    const { executionId, output } = await executeRun(tenant, march);
    const ids = [...(output as RunOutput).invoiceIds].sort();
    const statuses = async (): Promise<number[]> => {
      const found: number[] = [];
      for (const id of ids) {
        const { status } = await tenant.get(`${external}/invoices/${id}/pdf`);
        found.push(status);
      }
      return found;
    };
    await until(async () => (await statuses()).includes(200), 60_000, 'the first PDF');
    const place = await workflowIdOf(tenant, executionId);
    const handle = instance.platform.temporal.waiter.workflow.getHandle(place);
    await handle.result();
    expect(await statuses()).to.deep.equal([404, 404, 200, 200, 200]);
    // Three for the accounts, two at a time; then a page with one PDF each, and the empty last one.
    const histories = await historiesOf(instance.platform.temporal.waiter, place);
    expect(histories).to.have.length(3 + 5);
    expect(rendered).to.equal(6);
    const path = `/v1/workflows/billing-run/executions/${executionId}`;
    const { body } = await tenant.get(path).expect(200);
    expect(body).to.deep.include({ status: 'completed', output });
  });
});
