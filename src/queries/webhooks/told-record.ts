import type { Knex } from 'knex';
import { definitionOf, definitionWorkflow } from '../../messages/definitions/definition-run.js';
import { sqlRows } from '../../models/db/sql-rows.js';
import { builtInNameOf, workflowIdOf } from '../../schemas/flows/flow-id.js';
import type { WebhookDeliveryDto } from '../../schemas/webhooks/webhook.js';

type RecordType = WebhookDeliveryDto['recordType'];

/** What records an event tells of, by what its kind begins with. */
const typesOf: Readonly<Record<string, RecordType>> = {
  invoice: 'invoice',
  payment: 'payment',
  usage: 'usageEvent',
  alert: 'alert',
  workflow: 'execution',
  audit: 'execution',
  custom: 'execution',
  mdata: 'record',
  webhook: 'webhook',
};

export const recordTypeOf = (event: string): RecordType =>
  typesOf[event.split('.', 1)[0] ?? ''] ?? 'record';

/** Where records have what people call them; the others have no name. */
const namesSql: Partial<Record<RecordType, string>> = {
  invoice: 'select id, invoice_no as name from invoice where',
  payment: 'select id, payment_reference as name from payment where',
  usageEvent: 'select id, external_transaction_id as name from usage_event where',
  alert: `select id, name, coalesce(account_id,
      (select account_id from contract
       where contract.tenant_id = alert.tenant_id and contract.id = alert.contract_id),
      (select account_id from wallet
       where wallet.tenant_id = alert.tenant_id and wallet.id = alert.wallet_id)
    ) as "accountId" from alert where`,
  execution: `select id, workflow, (
      select name from workflow_definition as definition
      where definition.tenant_id = :tenantId and execution.workflow = :prefix::text || definition.id
    ) as name from execution where`,
};

interface NamedRow {
  readonly id: string;
  readonly name: string | null;
  /** Of an execution. */
  readonly workflow?: string;
  /** Of an alert that counts one account. */
  readonly accountId?: string | null;
}

/** What people call a record, of an execution its workflow, and of an alert its account. */
export interface ToldRecord {
  readonly name: string | null;
  readonly workflowId: string | null;
  readonly accountId: string | null;
}

const recordOf = ({ name, workflow, accountId = null }: NamedRow): ToldRecord =>
  workflow === undefined
    ? { name, workflowId: null, accountId }
    : {
        name: name ?? definitionOf(workflow) ?? builtInNameOf(workflow),
        workflowId: workflowIdOf(workflow),
        accountId,
      };

/** The records that deliveries tell of, by their ids; what is gone is not among them. */
export async function findToldRecords(
  db: Knex,
  tenantId: string,
  deliveries: readonly { readonly event: string; readonly recordId: string }[],
): Promise<ReadonlyMap<string, ToldRecord>> {
  const records = new Map<string, ToldRecord>();
  for (const [type, sql] of Object.entries(namesSql)) {
    const told = deliveries.filter(({ event }) => recordTypeOf(event) === type);
    if (told.length === 0) continue;
    const rows = await sqlRows<NamedRow>(
      db,
      `${sql} tenant_id = :tenantId and id = any(:ids::uuid[])`,
      { tenantId, ids: told.map(({ recordId }) => recordId), prefix: definitionWorkflow('') },
    );
    for (const row of rows) records.set(row.id, recordOf(row));
  }
  return records;
}
