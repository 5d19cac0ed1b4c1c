import { expect } from 'chai';
import { flowList, type FlowWorkflow } from '../../src/schemas/flows/index.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/instance.js';
import { asOwner } from '../support/rows.js';

type Ids = Readonly<Record<'account' | 'contract' | 'service' | 'payment', string>>;

/** A start node for each flow, on records of their own. */
const starts: Readonly<Record<FlowWorkflow, (ids: Ids) => object>> = {
  createAccount: () => ({
    ...{ Company_Name: 'New', First_Name: 'A', Last_Name: 'B', Line1: 'L', City: 'C' },
    ...{ State: 'S', Country: 'US', Currency: 'USD', Zip_Code: '1', ExternalId: 'new' },
  }),
  editAccount: ({ account }) => ({ id: account, name: 'Changed', gst: 'G', credit_limit: 5.5 }),
  deleteAccount: ({ account }) => ({ id: account }),
  approveAccount: ({ account }) => ({ ID_Account: account }),
  createContract: ({ account }) => ({ name: 'New', number: 'N', master_account_id: account }),
  editContract: ({ contract }) => ({ id: contract, total_price: 7.25 }),
  deleteContract: ({ contract }) => ({ id: contract }),
  approveContract: ({ contract }) => ({ ID_Contract: contract }),
  createService: () => ({ name: 'New', currency_id: 'USD' }),
  editService: ({ service }) => ({ id: service, label: 'Changed' }),
  deleteService: ({ service }) => ({ id: service }),
  approveService: ({ service }) => ({ ID_Service: service }),
  cloneService: ({ service }) => ({ Service_ID: service }),
  savePayment: ({ account }) => ({
    ...{ account_id: account, amount: 3.5, currency_id: 'USD', payment_date: '2026-01-31' },
    ...{ payment_method: 'Cash', payment_reference: 'NEW' },
  }),
  editPayment: ({ payment }) => ({ id: payment, amount: 4.5 }),
  deletePayment: ({ payment }) => ({ id: payment }),
};

/** Tables that hold what flows make, and executions without the times and ids of a run. */
const tables = ['account', 'address', 'contract', 'service', 'payment', 'draft', 'audit'];

describe('flows, when the n-th step fails after its commit', () => {
  let instance: TestInstance;
  /** Which step of the flow under test fails; 0 for none. */
  let failing = 0;
  let steps = 0;
  before(async () => {
    instance = await openTestInstance({
      withWorkers: true,
      activityInterceptors: [
        () => ({
          inbound: {
            async execute(input, next): Promise<unknown> {
              const result: unknown = await next(input);
              steps += 1;
              if (steps === failing) throw new Error('The worker died after the commit.');
              return result;
            },
          },
        }),
      ],
    });
  });
  after(() => instance.close());

  const prepare = async (tenant: TestTenant): Promise<Ids> => {
    const make = async (path: string, body: object): Promise<string> =>
      (await tenant.post(`${external}${path}`, body).expect(201)).body.id;
    const account = await make('/accounts', { name: 'Old', defaultCurrency: 'USD' });
    const owner = await make('/accounts', { name: 'Owner' });
    return {
      account,
      contract: await make('/contracts', { name: 'Old', masterAccountId: owner }),
      service: await make('/services', { name: 'Old' }),
      payment: await make('/payments', {
        ...{ accountId: owner, currency: 'USD', paymentReference: 'OLD', paymentMethod: 'Cash' },
        ...{ paymentDate: '2026-01-01', paymentType: 'Pay In' },
      }),
    };
  };

  /** How many rows there are in each table, and how the executions ended. */
  const rowsOf = (tenant: TestTenant): Promise<Record<string, unknown>> =>
    asOwner(instance.databaseUrl, async (client) => {
      const counts: Record<string, unknown> = {};
      for (const table of tables) {
        const { rows } = await client.query<{ count: string }>(
          `select count(*) from ${table} where tenant_id = $1`,
          [tenant.id],
        );
        counts[table] = rows[0]?.count;
      }
      const { rows } = await client.query<object>(
        'select workflow, status from execution where tenant_id = $1 order by started_at, id',
        [tenant.id],
      );
      return { ...counts, executions: rows };
    });

  for (const [workflow, flow] of flowList) {
    it(`${workflow} leaves the same rows`, async () => {
      const run = async (nth: number) => {
        const tenant = await instance.tenant();
        const ids = await prepare(tenant);
        steps = 0;
        failing = nth;
        const path = `${external}/run/${flow.slug}`;
        const { body } = await tenant.post(path, starts[workflow](ids)).expect(200);
        failing = 0;
        expect(body.output).to.have.property('id');
        return rowsOf(tenant);
      };
      const expected = await run(0);
      const count = steps;
      expect(count).to.be.at.least(1);
      for (let nth = 1; nth <= count; nth += 1) {
        expect(await run(nth), `step ${nth} of ${count}`).to.deep.equal(expected);
      }
    }).timeout(120_000);
  }

  it('onboarding that fails halfway is taken back, and its execution says so', async () => {
    const tenant = await instance.tenant();
    const body = {
      ...starts.createAccount({ account: '', contract: '', service: '', payment: '' }),
    };
    // The database refuses this line only when the address is written: the last step.
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
    expect(executed.body.error.details.undone).to.deep.equal(['onboardAccount']);
    const { body: found } = await tenant.get(`${external}/accounts`).expect(200);
    expect(found.data.totalElements).to.equal(0);
    // Its external id is free again.
    await tenant.post(`${external}/run/billing/account/create`, body).expect(200);
  });
});
