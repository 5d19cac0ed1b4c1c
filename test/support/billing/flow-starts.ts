import type { FlowWorkflow } from '../../../src/schemas/flows/index.js';
import { external, type TestTenant } from '../servers/instance.js';
import { asOwner } from '../servers/rows.js';

/** Records that the start nodes below are about. */
export type Ids = Readonly<Record<'account' | 'contract' | 'service' | 'payment', string>> & {
  /** The end of every name and number, so that several sets live side by side. */
  readonly suffix: string;
};

/** A start node for each flow, on records of their own. */
export const starts: Readonly<Record<FlowWorkflow, (ids: Ids) => object>> = {
  createAccount: ({ suffix }) => ({
    Company_Name: 'New',
    First_Name: 'A',
    Last_Name: 'B',
    Line1: 'L',
    City: 'C',
    State: 'S',
    Country: 'US',
    Currency: 'USD',
    Zip_Code: '1',
    ExternalId: `new${suffix}`,
  }),
  editAccount: ({ account }) => ({ id: account, name: 'Changed', gst: 'G', credit_limit: 5.5 }),
  deleteAccount: ({ account }) => ({ id: account }),
  approveAccount: ({ account }) => ({ ID_Account: account }),
  createContract: ({ account, suffix }) => ({
    name: 'New',
    number: `N${suffix}`,
    master_account_id: account,
  }),
  editContract: ({ contract }) => ({ id: contract, total_price: 7.25 }),
  deleteContract: ({ contract }) => ({ id: contract }),
  approveContract: ({ contract }) => ({ ID_Contract: contract }),
  createService: ({ suffix }) => ({ name: `New${suffix}`, currency_id: 'USD' }),
  editService: ({ service }) => ({ id: service, label: 'Changed' }),
  deleteService: ({ service }) => ({ id: service }),
  approveService: ({ service }) => ({ ID_Service: service }),
  cloneService: ({ service }) => ({ Service_ID: service }),
  savePayment: ({ account, suffix }) => ({
    account_id: account,
    amount: 3.5,
    currency_id: 'USD',
    payment_date: '2026-01-31',
    payment_method: 'Cash',
    payment_reference: `NEW${suffix}`,
  }),
  editPayment: ({ payment }) => ({ id: payment, amount: 4.5 }),
  deletePayment: ({ payment }) => ({ id: payment }),
};

/** The records that flows need: one of each, of which nothing hinders a deletion. */
export async function makeRecords(
  make: (path: string, body: object) => Promise<string>,
  suffix: string,
): Promise<Ids> {
  const account = await make('/accounts', { name: 'Old', defaultCurrency: 'USD' });
  const owner = await make('/accounts', { name: 'Owner' });
  return {
    suffix,
    account,
    contract: await make('/contracts', {
      name: 'Old',
      number: `O${suffix}`,
      masterAccountId: owner,
    }),
    service: await make('/services', { name: `Old${suffix}` }),
    payment: await make('/payments', {
      accountId: owner,
      currency: 'USD',
      paymentReference: `OLD${suffix}`,
      paymentMethod: 'Cash',
      paymentDate: '2026-01-01',
      paymentType: 'Pay In',
    }),
  };
}

/** The records of `makeRecords` in a tenant that has no others. */
export const prepareRecords = (tenant: TestTenant): Promise<Ids> =>
  makeRecords(
    async (path, body) => (await tenant.post(`${external}${path}`, body).expect(201)).body.id,
    '',
  );

/** Tables that hold what flows make. */
const tables = [
  'account',
  'address',
  'contract',
  'service',
  'payment',
  'draft',
  'audit',
  'execution',
];

/** What differs from run to run: ids and instants. */
const varying: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>'],
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?/g, '<time>'],
];

/** Every row that flows have made for a tenant, as text, without what differs from run to run. */
export const rowsOf = (tenantId: string, databaseUrl: string): Promise<string[]> =>
  asOwner(databaseUrl, async (client) => {
    const found: string[] = [];
    for (const table of tables) {
      const { rows } = await client.query<{ row: string }>(
        `select (to_jsonb(t) - 'id')::text as row from ${table} t where tenant_id = $1`,
        [tenantId],
      );
      for (const { row } of rows) {
        const text = varying.reduce((rest, [what, name]) => rest.replaceAll(what, name), row);
        found.push(`${table} ${text.replaceAll(tenantId, '<tenant>')}`);
      }
    }
    return found.sort();
  });
