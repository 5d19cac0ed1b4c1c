import {
  invoiceColumns,
  invoiceItemColumns,
  paymentColumns,
} from '../../schemas/exports/billing.js';
import { focusColumns } from '../../schemas/exports/focus.js';
import { exportSource } from './export-source.js';
import { ratedTransactions } from './usage-sources.js';

export const invoices = exportSource(invoiceColumns, {
  from: 'invoice as t',
  joins: 'join account as a on a.tenant_id = t.tenant_id and a.id = t.account_id',
  tenant: 't.tenant_id',
  keys: [
    { sql: 't.invoice_date', type: 'date' },
    { sql: 't.id', type: 'uuid' },
  ],
  account: { sql: 't.account_id = ?', isIndexed: true },
  columns: {
    id: 't.id',
    invoiceNo: 't.invoice_no',
    accountId: 't.account_id',
    accountName: 'a.name',
    accountNumber: 'a.number',
    invoiceType: 't.invoice_type',
    invoiceStatus: 't.invoice_status',
    paymentStatus: 't.payment_status',
    approvalStatus: 't.approval_status',
    amount: 't.amount',
    taxAmount: 't.tax_amount',
    total: 't.amount + t.tax_amount',
    balance: 't.balance',
    currency: 't.currency',
    invoiceDate: 't.invoice_date',
    dueDate: 't.due_date',
    periodStart: 't.period_start',
    periodEnd: 't.period_end',
    contractId: 't.contract_id',
    voidedAt: 't.voided_at',
    voidReason: 't.void_reason',
    creditedAmount: 't.credited_amount',
    creditedInvoiceId: 't.credited_invoice_id',
    creditReason: 't.credit_reason',
  },
});

export const invoiceItems = exportSource(invoiceItemColumns, {
  from: `invoice as i
    join invoice_item as t on t.tenant_id = i.tenant_id and t.invoice_id = i.id`,
  tenant: 'i.tenant_id',
  keys: [
    { sql: 'i.invoice_date', type: 'date' },
    { sql: 'i.id', type: 'uuid' },
    { sql: 't.position', type: 'integer' },
  ],
  leading: 2,
  account: { sql: 'i.account_id = ?', isIndexed: true },
  columns: {
    id: 't.id',
    invoiceId: 't.invoice_id',
    invoiceNo: 'i.invoice_no',
    invoiceDate: 'i.invoice_date',
    invoiceType: 'i.invoice_type',
    invoiceStatus: 'i.invoice_status',
    accountId: 'i.account_id',
    position: 't.position',
    description: 't.description',
    amount: 't.amount',
    tax: 't.tax',
    taxCode: 't.tax_code',
    taxRate: 't.tax_rate',
    balance: 't.balance',
    currency: 'i.currency',
    volume: 't.volume',
    unit: 't.unit',
    ratePerUnit: 't.rate_per_unit',
    priceMethodType: 't.price_method_type',
    chargeType: 't.charge_type',
    billStartDate: 't.bill_start_date',
    billEndDate: 't.bill_end_date',
    chargedDays: 't.charged_days',
    periodDays: 't.period_days',
    serviceId: 't.service_id',
    serviceName: 't.service_name',
    serviceCode: 't.service_code',
    contractServiceId: 't.contract_service_id',
    creditedAmount: 't.credited_amount',
    creditedTax: 't.credited_tax',
    creditedItemId: 't.credited_item_id',
    correctedInvoiceId: 't.corrected_invoice_id',
  },
});

export const payments = exportSource(paymentColumns, {
  from: 'payment as t',
  tenant: 't.tenant_id',
  where: 't.deleted_at is null',
  keys: [
    { sql: 't.payment_date', type: 'date' },
    { sql: 't.id', type: 'uuid' },
  ],
  account: { sql: 't.account_id = ?', isIndexed: true },
  columns: {
    id: 't.id',
    paymentReference: 't.payment_reference',
    accountId: 't.account_id',
    amount: 't.amount',
    balance: 't.balance',
    currency: 't.currency',
    paymentStatus: 't.payment_status',
    balanceStatus: 't.balance_status',
    paymentType: 't.payment_type',
    paymentMethod: 't.payment_method',
    paymentDate: 't.payment_date',
    approvalStatus: 't.approval_status',
    paymentGlStatus: 't.payment_gl_status',
    glPaymentDate: 't.gl_payment_date',
    isManualPayment: 't.is_manual_payment',
    participantName: 't.participant_name',
    comments: 't.comments',
  },
});

/** What is owed to the account lowers what it costs. */
const cost = `case when t.usage_type = 'Payout' then -t.amount else t.amount end`;

/** The rated transactions once more (docs/decisions/0318 has the reason of each column). */
export const focus = exportSource(focusColumns, {
  ...ratedTransactions,
  joins: `join account as billed on billed.tenant_id = t.tenant_id and billed.id = t.account_id
    join account as used on used.tenant_id = t.tenant_id and used.id = t.master_account_id
    join service as s on s.tenant_id = t.tenant_id and s.id = t.service_id`,
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
      when t.charge_type = 'Usage' then 'Usage' else 'Purchase' end`,
    ChargeDescription: 's.name',
    ChargeFrequency: `'Usage-Based'`,
    ChargePeriodStart: `t.transaction_date::timestamp at time zone 'UTC'`,
    ChargePeriodEnd: `(t.transaction_date + 1)::timestamp at time zone 'UTC'`,
    PricingCategory: `'Standard'`,
    PricingQuantity: 't.quantity',
    ConsumedQuantity: 't.quantity',
    ResourceId: 't.service_instance_id',
    ServiceCategory: `'Other'`,
    ServiceName: 's.name',
    SkuId: 't.service_id',
    x_TransactionId: 't.id',
    x_ExternalTransactionId: 't.external_tran_id',
    x_ContractId: 't.contract_id',
  },
});
