import type { FlowWorkflow } from '../../src/schemas/flows/index.js';
import { external, type TestTenant } from './instance.js';
import { asOwner } from './rows.js';

/** Records that the start nodes below are about. */
export type Ids = Readonly<Record<'account' | 'contract' | 'service' | 'payment', string>>;

/** A start node for each flow, on records of their own. */
export const starts: Readonly<Record<FlowWorkflow, (ids: Ids) => object>> = {
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

/** The records that flows need: one of each, of which nothing hinders a deletion. */
export async function prepareRecords(tenant: TestTenant): Promise<Ids> {
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
}

/** Tables that hold what flows make. */
const tables = [
  ...['account', 'address', 'contract', 'service', 'payment', 'draft', 'audit', 'execution'],
];

/** What differs from run to run: ids, instants, and the numbers that are made of them. */
const varying: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>'],
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?/g, '<time>'],
  [/C-\d{13}/g, '<number>'],
];

/** Every row that flows have made for a tenant, as text, without what differs from run to run. */
export const rowsOf = (tenant: TestTenant, databaseUrl: string): Promise<string[]> =>
  asOwner(databaseUrl, async (client) => {
    const found: string[] = [];
    for (const table of tables) {
      const { rows } = await client.query<{ row: string }>(
        `select (to_jsonb(t) - 'id')::text as row from ${table} t where tenant_id = $1`,
        [tenant.id],
      );
      for (const { row } of rows) {
        const text = varying.reduce((rest, [what, name]) => rest.replaceAll(what, name), row);
        found.push(`${table} ${text.replaceAll(tenant.id, '<tenant>')}`);
      }
    }
    return found.sort();
  });
