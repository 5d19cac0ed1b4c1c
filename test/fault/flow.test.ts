import { expect } from 'chai';
import { flowList } from '../../src/schemas/flows/index.js';
import { tellFigures } from '../start/outcome.js';
import { prepareRecords, rowsOf, starts } from '../support/billing/flow-starts.js';
import { storeInvoice } from '../support/billing/invoices.js';
import { external } from '../support/servers/instance.js';
import { afterEachActivity } from '../support/servers/activities.js';
import { asOwner } from '../support/servers/rows.js';
import { useInstance } from '../support/servers/use-instance.js';

describe('flows, when the n-th step fails after its commit', () => {
  /** Which step of the flow under test fails; 0 for none. */
  let failing = 0;
  let steps = 0;
  const instance = useInstance({
    withWorkers: true,
    activityInterceptors: afterEachActivity(() => {
      steps += 1;
      if (steps === failing) throw new Error('The worker died after the commit.');
    }),
  });

  for (const [workflow, flow] of flowList) {
    // spec/flows.md R31
    it(`${workflow} leaves the same rows`, async () => {
      const run = async (nth: number) => {
        const tenant = await instance.tenant();
        const ids = await prepareRecords(tenant);
        steps = 0;
        failing = nth;
        const path = `${external}/run/${flow.slug}`;
        const { body } = await tenant.post(path, starts[workflow](ids)).expect(200);
        failing = 0;
        expect(body.output).to.have.property('id');
        return rowsOf(tenant.id, instance.databaseUrl);
      };
      const expected = await run(0);
      const count = steps;
      expect(count).to.be.at.least(1);
      for (let nth = 1; nth <= count; nth += 1) {
        expect(await run(nth), `step ${nth} of ${count}`).to.deep.equal(expected);
      }
      tellFigures({ 'steps failed after their commit': count });
    }).timeout(240_000);
  }

  // spec/flows.md R31
  it('a credit of an invoice leaves the same rows', async () => {
    const run = async (nth: number) => {
      const tenant = await instance.tenant();
      const { account: accountId } = await prepareRecords(tenant);
      const id = await storeInvoice(tenant.scope, {
        invoice: { accountId, invoiceNo: 'INV-1', amount: '10', taxAmount: '2', balance: '12' },
        items: [{ amount: '10', tax: '2', balance: '12' }],
      });
      steps = 0;
      failing = nth;
      const path = `/v1/invoices/${id}/credit-notes`;
      const { body } = await tenant.post(path, { reason: 'The wrong price.' }).expect(201);
      failing = 0;
      expect(body).to.include({ invoiceNo: 'CN-000001', total: 12 });
      return rowsOf(tenant.id, instance.databaseUrl);
    };
    const expected = await run(0);
    expect(steps).to.equal(1);
    expect(await run(1)).to.deep.equal(expected);
  });

  // spec/flows.md R31
  it('a batch leaves the same rows', async () => {
    const run = async (nth: number) => {
      const tenant = await instance.tenant();
      const ids = await prepareRecords(tenant);
      // Three steps, and a bad one in the second.
      const data = Array.from({ length: 250 }, (_each, index) => ({
        ...starts.savePayment({ ...ids, suffix: `-${index === 150 ? 0 : index}` }),
      }));
      steps = 0;
      failing = nth;
      const path = `${external}/run/billing/payment/create/batch`;
      const { body } = await tenant.post(path, { data }).expect(200);
      failing = 0;
      expect(body).to.include({ completed: 249, failed: 1 });
      return rowsOf(tenant.id, instance.databaseUrl);
    };
    const expected = await run(0);
    expect(steps).to.equal(4);
    for (let nth = 1; nth <= 4; nth += 1) {
      expect(await run(nth), `step ${nth}`).to.deep.equal(expected);
    }
  }).timeout(240_000);

  // spec/flows.md R14
  // spec/flows.md R32
  it('onboarding that fails halfway leaves nothing, and its execution says so', async () => {
    const tenant = await instance.tenant();
    const body = {
      ...starts.createAccount({ account: '', contract: '', service: '', payment: '', suffix: '' }),
    };
    // The database refuses this line only when the address is written, after the account.
    await asOwner(instance.databaseUrl, (client) =>
      client.query(
        `alter table address add constraint no_forbidden_street check (line1 <> 'Forbidden')`,
      ),
    );
    const start = { ...body, Line1: 'Forbidden' };
    const executed = await tenant
      .post('/v1/workflows/account-create/execute', { data: start })
      .expect(200);
    expect(executed.body.status).to.equal('failed');
    const { body: found } = await tenant.get(`${external}/accounts`).expect(200);
    expect(found.data.totalElements).to.equal(0);
    // Its external id is free again.
    await tenant.post(`${external}/run/billing/account/create`, body).expect(200);
  });
});
