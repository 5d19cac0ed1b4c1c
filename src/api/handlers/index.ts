import { accessKeyHandlers } from './access/access-key.js';
import type { Operations } from '../../schemas/index.js';
import type { Handlers } from '../mount-operations.js';
import { accountHandlers } from './accounts/account.js';
import { attributeHandlers } from './catalog/attribute.js';
import { auditHandlers } from './access/audit.js';
import { retentionHandlers } from './ageing/retention.js';
import { clockHandlers } from './sandbox/sandbox-clock.js';
import { contractHandlers } from './contracts/contract.js';
import { contractAttachmentHandlers } from './contracts/contract-attachment.js';
import { contractServiceHandlers } from './contracts/contract-service.js';
import { contractServiceAttributeHandlers } from './contracts/contract-service-attribute.js';
import { grantHandlers, tokenRevocationHandlers } from './access/credential.js';
import { embedHandlers } from './access/embed.js';
import { exceptionCardHandlers } from './catalog/exception-card.js';
import { executionHandlers } from './flows/execution.js';
import { changeHandlers } from './changes/change.js';
import { exportHandlers } from './exports/export.js';
import { flowContractHandlers } from './flows/flow-contract.js';
import { flowHandlers } from './flows/flow.js';
import { flowBatchHandlers } from './flows/flow-batch.js';
import { ingestionHandlers } from './usage/ingestion.js';
import { invoiceHandlers } from './billing/invoice.js';
import { journalHandlers } from './billing/journal.js';
import { billingRunHandlers } from './billing/billing-run.js';
import { invoicePreviewHandlers } from './billing/invoice-preview.js';
import { scheduleHandlers } from './billing/schedule.js';
import { nextInvoiceHandlers } from './billing/next-invoice.js';
import { oauthHandlers } from './access/oauth.js';
import { paymentHandlers } from './payments/payment.js';
import { paymentApplicationHandlers } from './payments/payment-application.js';
import { priceMatrixHandlers } from './catalog/price-matrix.js';
import { pricingLogicHandlers } from './catalog/pricing-logic.js';
import { rateCardHandlers } from './catalog/rate-card.js';
import { rateComputationHandlers } from './catalog/rate-computation.js';
import { ratedTransactionHandlers } from './usage/rated-transaction.js';
import { recordHandlers } from './records/record.js';
import { recordTypeHandlers } from './records/record-type.js';
import { referenceDataHandlers } from './reference/reference-data.js';
import { serviceHandlers } from './catalog/service.js';
import { serviceLayoutHandlers } from './catalog/service-layout.js';
import { statusHandlers } from './access/status.js';
import { taxRateHandlers } from './billing/tax-rate.js';
import { timelineHandlers } from './accounts/timeline.js';
import { repricingHandlers } from './usage/repricing.js';
import { usageCorrectionHandlers } from './usage/usage-correction.js';
import { usageEventHandlers } from './usage/usage-event.js';
import { usageTotalHandlers } from './usage/usage-total.js';
import { walletGrantHandlers } from './balances/grant.js';
import { adjustmentHandlers } from './billing/adjustment.js';
import { alertHandlers } from './balances/alert.js';
import { holdHandlers } from './balances/hold.js';
import { walletHandlers } from './payments/wallet.js';
import { approvalHandlers } from './workflows/approval.js';
import { workflowDiagramHandlers } from './workflows/diagram.js';
import { definitionHandlers, secretHandlers } from './workflows/workflow.js';
import { webhookHandlers } from './webhooks/webhook.js';

export const handlers: { readonly [K in keyof Operations]: Handlers<Operations[K]> } = {
  account: accountHandlers,
  timeline: timelineHandlers,
  journal: journalHandlers,
  referenceData: referenceDataHandlers,
  service: serviceHandlers,
  attribute: attributeHandlers,
  rateCard: rateCardHandlers,
  pricingLogic: pricingLogicHandlers,
  contract: contractHandlers,
  contractService: contractServiceHandlers,
  contractServiceAttribute: contractServiceAttributeHandlers,
  exceptionCard: exceptionCardHandlers,
  contractAttachment: contractAttachmentHandlers,
  priceMatrix: priceMatrixHandlers,
  rateComputation: rateComputationHandlers,
  serviceLayout: serviceLayoutHandlers,
  payment: paymentHandlers,
  paymentApplication: paymentApplicationHandlers,
  taxRate: taxRateHandlers,
  wallet: walletHandlers,
  walletGrant: walletGrantHandlers,
  hold: holdHandlers,
  alert: alertHandlers,
  adjustment: adjustmentHandlers,
  invoice: invoiceHandlers,
  nextInvoice: nextInvoiceHandlers,
  billingRun: billingRunHandlers,
  schedule: scheduleHandlers,
  invoicePreview: invoicePreviewHandlers,
  flow: flowHandlers,
  flowBatch: flowBatchHandlers,
  flowContract: flowContractHandlers,
  execution: executionHandlers,
  definition: definitionHandlers,
  secret: secretHandlers,
  approval: approvalHandlers,
  workflowDiagram: workflowDiagramHandlers,
  oauth: oauthHandlers,
  accessKey: accessKeyHandlers,
  oauthGrant: grantHandlers,
  tokenRevocation: tokenRevocationHandlers,
  embed: embedHandlers,
  ingestion: ingestionHandlers,
  usageEvent: usageEventHandlers,
  usageCorrection: usageCorrectionHandlers,
  repricing: repricingHandlers,
  usageTotal: usageTotalHandlers,
  ratedTransaction: ratedTransactionHandlers,
  recordType: recordTypeHandlers,
  record: recordHandlers,
  webhook: webhookHandlers,
  audit: auditHandlers,
  clock: clockHandlers,
  status: statusHandlers,
  retention: retentionHandlers,
  export: exportHandlers,
  change: changeHandlers,
};
