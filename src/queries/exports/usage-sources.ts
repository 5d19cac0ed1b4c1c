import { ratedTransactionColumns, usageEventColumns } from '../../schemas/exports/usage.js';
import { eventMessageSql, eventMessageWeightSql } from '../../models/usage/event-message.js';
import { exportSource } from './export-source.js';

/** As the index `usage_event_time` has it (docs/decisions/0078). */
const eventTime = '(case when t.event_at is null then t.received_at else t.event_at end)';

export const usageEvents = exportSource(usageEventColumns, {
  from: 'usage_event as t',
  tenant: 't.tenant_id',
  keys: [
    { sql: eventTime, type: 'instant' },
    { sql: 't.id', type: 'uuid' },
  ],
  account: { sql: 't.account_id = ?', isIndexed: false },
  weight: eventMessageWeightSql('t'),
  columns: {
    id: 't.id',
    externalTransactionId: 't.external_transaction_id',
    status: 't.status',
    code: 't.code',
    reason: 't.reason',
    accountId: 't.account_id',
    serviceId: 't.service_id',
    eventTimestamp: 't.event_at',
    originalId: 't.original_id',
    morgId: 't.org_id',
    partition: 't.partition',
    offset: 't."offset"',
    receivedAt: 't.received_at',
    processedAt: 't.processed_at',
    message: eventMessageSql('t'),
  },
});

export const ratedTransactions = exportSource(ratedTransactionColumns, {
  from: 'rated_transaction as t',
  tenant: 't.tenant_id',
  keys: [
    { sql: 't.transaction_date', type: 'date' },
    { sql: 't.id', type: 'uuid' },
  ],
  account: { sql: 't.account_id = ?', isIndexed: true },
  columns: {
    id: 't.id',
    usageEventId: 't.usage_event_id',
    externalTranId: 't.external_tran_id',
    transactionDate: 't.transaction_date',
    accountId: 't.account_id',
    masterAccountId: 't.master_account_id',
    serviceId: 't.service_id',
    serviceInstanceId: 't.service_instance_id',
    contractId: 't.contract_id',
    contractServiceId: 't.contract_service_id',
    amount: 't.amount',
    discount: 't.discount',
    taxAmount: 't.tax_amount',
    quantity: 't.quantity',
    currency: 't.currency',
    usageType: 't.usage_type',
    chargeType: 't.charge_type',
    ratedAt: 't.rated_at',
  },
});
