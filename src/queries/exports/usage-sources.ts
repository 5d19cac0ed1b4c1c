import {
  correctionColumns,
  ratedTransactionColumns,
  usageEventColumns,
} from '../../schemas/exports/usage-columns.js';
import { eventMessageSql, eventMessageWeightSql } from '../../models/usage/event-message.js';
import { chargeJoins } from '../usage/corrections/corrected-charge.js';
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
    // What a correction has made became known with it (docs/decisions/0385).
    ratedAt: `coalesce((select created_at from usage_correction as made
      where made.tenant_id = t.tenant_id and made.id = t.correction_id), t.rated_at)`,
    reverses: 't.reverses',
    correctionId: 't.correction_id',
  },
});

/** What a charge came to; one that is not there cost nothing. */
const amountOf = (charge: string): string => `coalesce(${charge}.amount, 0)`;

export const corrections = exportSource(correctionColumns, {
  from: `usage_correction as t
    join usage_correction_charge as pair
      on pair.tenant_id = t.tenant_id and pair.correction_id = t.id`,
  joins: chargeJoins('t.tenant_id', 'pair', 'was', 'now'),
  tenant: 't.tenant_id',
  keys: [
    { sql: 't.created_at', type: 'instant' },
    { sql: 't.id', type: 'uuid' },
    { sql: 'pair.position', type: 'integer' },
  ],
  leading: 2,
  account: { sql: 'any_of.account_id = ?', isIndexed: false },
  columns: {
    correctionId: 't.id',
    kind: 't.kind',
    reason: 't.reason',
    actor: 't.actor',
    executionId: 't.execution_id',
    correctedAt: 't.created_at',
    position: 'pair.position',
    usageEventId: 'pair.event_id',
    externalTranId: 'any_of.external_tran_id',
    accountId: 'any_of.account_id',
    contractId: 'any_of.contract_id',
    serviceId: 'any_of.service_id',
    transactionDate: 'any_of.transaction_date',
    currency: 'any_of.currency',
    usageType: 'any_of.usage_type',
    before: amountOf('was'),
    after: amountOf('now'),
    difference: `${amountOf('now')} - ${amountOf('was')}`,
    beforeId: 'pair.before_id',
    afterId: 'pair.after_id',
  },
});
