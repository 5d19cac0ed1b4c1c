import { flowList, type FlowWorkflow } from '../../../src/schemas/flows/index.js';
import { exampleIds } from '../../../src/schemas/openapi/examples.js';
import { external, type TestTenant } from '../servers/instance.js';
import { asOwner } from '../servers/rows.js';

/** Records that the start nodes below are about. */
export type Ids = Readonly<Record<'account' | 'contract' | 'service' | 'payment', string>> & {
  /** The end of every name and number, so that several sets live side by side. */
  readonly suffix: string;
};

const idNames = ['account', 'contract', 'service', 'payment'] as const;

/** The declared example of a flow, about these records; the key of what it makes has their suffix. */
function startOf({ example, keyField }: (typeof flowList)[number][1], ids: Ids): object {
  const ownIds = new Map(idNames.map((name) => [exampleIds[name], ids[name]]));
  return Object.fromEntries(
    Object.entries(example).map(([field, value]) => {
      const own = ownIds.get(String(value));
      if (own !== undefined) return [field, own];
      return [field, field === keyField ? `${String(value)}${ids.suffix}` : value];
    }),
  );
}

/** A start node for each flow, on records of their own: a flow needs no other than its example. */
export const starts = Object.fromEntries(
  flowList.map(([workflow, declared]) => [workflow, (ids: Ids) => startOf(declared, ids)]),
) as Readonly<Record<FlowWorkflow, (ids: Ids) => object>>;

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
