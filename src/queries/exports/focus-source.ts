import { focusColumns } from '../../schemas/exports/focus-columns.js';
import { exportSource } from './export-source.js';

/**
 * All charges as one: of usage, and of lines of contracts that billing runs have made and no void has
 * taken back. Each part is read by its own index, in the order of both.
 */
const charges = `(
  select tenant_id, id, transaction_date as first_date, transaction_date as last_date, account_id,
    master_account_id, service_id, service_instance_id, contract_id, amount, quantity, currency,
    usage_type, charge_type, external_tran_id, charge_type = 'Usage' as is_used,
    null::timestamptz as voided_at
  from rated_transaction
  union all
  select tenant_id, id, bill_start_date, bill_end_date, account_id, master_account_id, service_id,
    null::text, contract_id, amount, volume, currency, usage_type, charge_type, null::text, false, voided_at
  from recurring_charge
) as t`;

/** What is owed to the account lowers what it costs. */
const cost = `case when t.usage_type = 'Payout' then -t.amount else t.amount end`;

/** docs/decisions/0318 has the reason of each column. */
export const focus = exportSource(focusColumns, {
  from: charges,
  joins: `join account as billed on billed.tenant_id = t.tenant_id and billed.id = t.account_id
    join account as used on used.tenant_id = t.tenant_id and used.id = t.master_account_id
    join service as s on s.tenant_id = t.tenant_id and s.id = t.service_id`,
  tenant: 't.tenant_id',
  // Not in the part itself: PostgreSQL would sort all of that for each page.
  where: 't.voided_at is null',
  keys: [
    { sql: 't.first_date', type: 'date' },
    { sql: 't.id', type: 'uuid' },
  ],
  account: { sql: 't.account_id = ?', isIndexed: true },
  columns: {
    BilledCost: cost,
    EffectiveCost: cost,
    ContractedCost: cost,
    BillingCurrency: 't.currency',
    BillingAccountId: 't.account_id',
    BillingAccountName: 'billed.name',
    SubAccountId: 't.master_account_id',
    SubAccountName: 'used.name',
    ChargeCategory: `case when t.usage_type = 'Payout' then 'Credit'
      when t.is_used then 'Usage' else 'Purchase' end`,
    ChargeDescription: 's.name',
    ChargeFrequency: `case when t.is_used then 'Usage-Based'
      when t.charge_type = 'OTC' then 'One-Time' else 'Recurring' end`,
    ChargePeriodStart: `t.first_date::timestamp at time zone 'UTC'`,
    ChargePeriodEnd: `(t.last_date + 1)::timestamp at time zone 'UTC'`,
    PricingCategory: `'Standard'`,
    PricingQuantity: 't.quantity',
    ConsumedQuantity: `case when t.is_used then t.quantity end`,
    ResourceId: 't.service_instance_id',
    ServiceCategory: `'Other'`,
    ServiceName: 's.name',
    SkuId: 't.service_id',
    x_TransactionId: 't.id',
    x_ExternalTransactionId: 't.external_tran_id',
    x_ContractId: 't.contract_id',
  },
});
