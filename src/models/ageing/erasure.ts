import type { Knex } from 'knex';
import type { ErasurePlace } from '../../messages/ageing/erasure.js';
import { sqlRows } from '../db/sql-rows.js';

/** What an erasure looks for, in small letters. */
export interface SoughtTexts {
  /** A row that holds one of these is about the person. */
  readonly marks: readonly string[];
  /** Texts of such a row that go where they are one of these, */
  readonly wholes: readonly string[];
  /** or hold one of these. */
  readonly parts: readonly string[];
}

/** What was erased of a table by one portion. */
export interface ErasedPortion {
  readonly name: string;
  readonly rows: number;
  /** Null: nothing is left. */
  readonly next: ErasurePlace | null;
}

/** The states of an account and its addresses, as they are and as the audit has them. */
export async function readPersonStates(
  trx: Knex.Transaction,
  tenantId: string,
  accountId: string,
): Promise<{ readonly entity: string; readonly state: Readonly<Record<string, unknown>> }[]> {
  return sqlRows(
    trx,
    `with place as (
       select id, to_jsonb(address) as state from address
       where tenant_id = :tenantId and account_id = :accountId::uuid
     ), changed as (
       select entity, before, after from audit where tenant_id = :tenantId and (
         (entity = 'account' and entity_id = :accountId::uuid)
         or (entity = 'address' and entity_id in (select id from place))
       )
     )
     select 'account' as entity, to_jsonb(account) as state from account
       where tenant_id = :tenantId and id = :accountId::uuid
     union all select 'address', state from place
     union all select entity, before from changed where before is not null
     union all select entity, after from changed where after is not null`,
    { tenantId, accountId },
  );
}

/** Begins an erasure, unless this execution has begun it. */
export async function insertErasure(
  trx: Knex.Transaction,
  tenantId: string,
  erasure: SoughtTexts & { readonly id: string; readonly accountId: string },
): Promise<void> {
  const { id, accountId, marks, wholes, parts } = erasure;
  await sqlRows(
    trx,
    `insert into erasure (tenant_id, id, account_id, marks, wholes, parts)
     values (?, ?, ?, ?::text[], ?::text[], ?::text[])`,
    [tenantId, id, accountId, marks, wholes, parts],
  );
}

/** Forgets what was looked for. */
export async function closeErasure(
  trx: Knex.Transaction,
  tenantId: string,
  id: string,
): Promise<void> {
  await trx.raw(
    `update erasure set marks = null, wholes = null, parts = null, ended_at = now()
     where tenant_id = ? and id = ? and ended_at is null`,
    [tenantId, id],
  );
}

const erased = (column: string): string => `erased_text(${column}, sought.wholes, sought.parts)`;
const soughtSql = `sought as materialized (
    select * from erasure where tenant_id = :tenantId and id = :id and ended_at is null
  )`;

/** Takes everything personal from the account, its addresses, payments, contracts and wallets. */
export async function eraseRecords(
  trx: Knex.Transaction,
  tenantId: string,
  id: string,
): Promise<void> {
  const statements = [
    `update account set name = '[erased]', external_id = 'erased-' || account.id, gst = null,
       pan = null, cin = null, contact_info_list = '[]', account_payment_profile_list = '[]',
       profile = profile - array['firstName', 'lastName', 'description', 'organization', 'email',
         'phone', 'mobile', 'website', 'billingEmail', 'purchaseOrder'], updated_at = now()
     from sought where account.tenant_id = :tenantId and account.id = sought.account_id`,
    // The country stays: taxes depend on it.
    `update address set line1 = '[erased]', line2 = null, city = null, state = null,
       zip_code = null, tax_id = null, updated_at = now()
     from sought where address.tenant_id = :tenantId and address.account_id = sought.account_id`,
    `update payment set comments = case when comments is not null then '[erased]' end,
       participant_name = case when participant_name is not null then '[erased]' end,
       payment_reference = case when ${erased('payment_reference')} = payment_reference
         then payment_reference else 'erased-' || payment.id end, updated_at = now()
     from sought where payment.tenant_id = :tenantId and payment.account_id = sought.account_id`,
    `update contract set name = ${erased('name')}, description = ${erased('description')},
       po_number = ${erased('po_number')}, updated_at = now()
     from sought
     where contract.tenant_id = :tenantId and contract.master_account_id = sought.account_id`,
    `update contract_service as line set termination_message = ${erased('termination_message')}
     from sought, contract
     where line.tenant_id = :tenantId and line.termination_message is not null
       and contract.tenant_id = :tenantId and contract.id = line.contract_id
       and contract.master_account_id = sought.account_id`,
    `update wallet set title = case when ${erased('title')} = title then title
         else 'erased-' || wallet.id end, updated_at = now(),
       customer_id = case when customer_id is not null then '[erased]' end
     from sought where wallet.tenant_id = :tenantId and wallet.account_id = sought.account_id`,
    `delete from draft using sought
     where draft.tenant_id = :tenantId and draft.entity_id = sought.account_id`,
    `update usage_event as event set reason = ${erased('reason')}
     from sought where event.tenant_id = :tenantId and event.account_id = sought.account_id
       and event.reason is not null`,
  ];
  for (const statement of statements) {
    await trx.raw(`with ${soughtSql} ${statement}`, { tenantId, id });
  }
}
