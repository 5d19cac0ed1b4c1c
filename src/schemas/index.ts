import * as accessKey from './access/access-key.js';
import * as account from './accounts/account.js';
import * as attribute from './catalog/attribute.js';
import * as audit from './access/audit.js';
import * as billingRun from './billing/billing-run.js';
import * as clock from './sandbox/sandbox-clock.js';
import * as change from './changes/change.js';
import * as contract from './contracts/contract.js';
import * as contractAttachment from './contracts/contract-attachment.js';
import * as contractService from './contracts/contract-service.js';
import * as contractServiceAttribute from './contracts/contract-service-attribute.js';
import * as credential from './access/credential.js';
import * as embed from './access/embed.js';
import * as envelope from './http/envelope.js';
import * as execution from './flows/execution.js';
import * as explanation from './usage/explanation.js';
import * as exceptionCard from './catalog/exception-card.js';
import * as exported from './exports/export.js';
import * as exportedAudit from './exports/audit-columns.js';
import * as exportedBalances from './exports/balance-columns.js';
import * as exportedBilling from './exports/billing-columns.js';
import * as exportedFocus from './exports/focus-columns.js';
import * as exportedUsage from './exports/usage-columns.js';
import * as flow from './flows/flow.js';
import * as flowBatch from './flows/flow-batch.js';
import { flowBatchOperations, flowBodies, flowOperations } from './flows/index.js';
import * as ingestion from './usage/ingestion.js';
import * as creditNote from './billing/credit-note.js';
import * as invoice from './billing/invoice.js';
import * as invoiceExplanation from './billing/invoice-explanation.js';
import * as invoicePreview from './billing/invoice-preview.js';
import * as invoiceItem from './billing/invoice-item.js';
import * as journal from './billing/journal.js';
import * as nextInvoice from './billing/next-invoice.js';
import * as oauth from './access/oauth.js';
import * as payment from './payments/payment.js';
import * as paymentApplication from './payments/payment-application.js';
import * as priceMatrix from './catalog/price-matrix.js';
import * as pricingLogic from './catalog/pricing-logic.js';
import * as rateCard from './catalog/rate-card.js';
import * as rateComputation from './catalog/rate-computation.js';
import * as ratedTransaction from './usage/rated-transaction.js';
import * as record from './records/record.js';
import * as recordType from './records/record-type.js';
import * as referenceData from './reference/reference-data.js';
import * as retention from './ageing/retention.js';
import * as schedule from './billing/schedule.js';
import * as service from './catalog/service.js';
import * as serviceLayout from './catalog/service-layout.js';
import * as status from './access/status.js';
import * as taxRate from './billing/tax-rate.js';
import * as timeline from './accounts/timeline.js';
import * as repricedAccount from './usage/repriced-account.js';
import * as promoted from './usage/promoted.js';
import * as repricing from './usage/repricing.js';
import * as repricingChange from './usage/repricing-change.js';
import * as usageCorrection from './usage/usage-correction.js';
import * as usageEvent from './usage/usage-event.js';
import * as usageTotal from './usage/usage-total.js';
import * as usageMessage from './usage/usage-message.js';
import * as adjustment from './billing/adjustment.js';
import * as alert from './balances/alert.js';
import * as hold from './balances/hold.js';
import * as wallet from './payments/wallet.js';
import * as walletGrant from './balances/grant.js';
import * as webhook from './webhooks/webhook.js';
import * as approval from './workflows/approval.js';
import * as dryRun from './workflows/dry-run.js';
import { workflowDiagramOperations } from './workflows/diagram.js';
import * as workflow from './workflows/workflow.js';

/** Every HTTP operation, by resource. A new resource is one line here and one in `modules`. */
export const operations = {
  account: account.accountOperations,
  timeline: timeline.timelineOperations,
  referenceData: referenceData.referenceDataOperations,
  service: service.serviceOperations,
  attribute: attribute.attributeOperations,
  rateCard: rateCard.rateCardOperations,
  pricingLogic: pricingLogic.pricingLogicOperations,
  contract: contract.contractOperations,
  contractService: contractService.contractServiceOperations,
  contractServiceAttribute: contractServiceAttribute.contractServiceAttributeOperations,
  exceptionCard: exceptionCard.exceptionCardOperations,
  contractAttachment: contractAttachment.contractAttachmentOperations,
  priceMatrix: priceMatrix.priceMatrixOperations,
  rateComputation: rateComputation.rateComputationOperations,
  serviceLayout: serviceLayout.serviceLayoutOperations,
  payment: payment.paymentOperations,
  paymentApplication: paymentApplication.paymentApplicationOperations,
  taxRate: taxRate.taxRateOperations,
  wallet: wallet.walletOperations,
  walletGrant: walletGrant.walletGrantOperations,
  hold: hold.holdOperations,
  alert: alert.alertOperations,
  adjustment: adjustment.adjustmentOperations,
  invoice: invoice.invoiceOperations,
  nextInvoice: nextInvoice.nextInvoiceOperations,
  billingRun: billingRun.billingRunOperations,
  schedule: schedule.scheduleOperations,
  invoicePreview: invoicePreview.invoicePreviewOperations,
  journal: journal.journalOperations,
  flow: flowOperations,
  flowBatch: flowBatchOperations,
  flowContract: execution.flowContractOperations,
  execution: execution.executionOperations,
  definition: workflow.definitionOperations,
  secret: workflow.secretOperations,
  approval: approval.approvalOperations,
  workflowDiagram: workflowDiagramOperations,
  oauth: oauth.oauthOperations,
  accessKey: accessKey.accessKeyOperations,
  oauthGrant: credential.grantOperations,
  tokenRevocation: credential.tokenRevocationOperations,
  embed: embed.embedOperations,
  ingestion: ingestion.ingestionOperations,
  usageEvent: usageEvent.usageEventOperations,
  usageCorrection: usageCorrection.usageCorrectionOperations,
  repricing: repricing.repricingOperations,
  usageTotal: usageTotal.usageTotalOperations,
  ratedTransaction: ratedTransaction.ratedTransactionOperations,
  recordType: recordType.recordTypeOperations,
  record: record.recordOperations,
  webhook: webhook.webhookOperations,
  audit: audit.auditOperations,
  clock: clock.clockOperations,
  status: status.statusOperations,
  retention: retention.retentionOperations,
  export: exported.exportOperations,
  change: change.changeOperations,
};

/** The modules whose exports give the schemas of the OpenAPI document their names. */
export const modules: readonly object[] = [
  account,
  referenceData,
  service,
  attribute,
  rateCard,
  pricingLogic,
  contract,
  contractService,
  contractAttachment,
  priceMatrix,
  rateComputation,
  payment,
  paymentApplication,
  taxRate,
  flow,
  flowBatch,
  flowBodies,
  envelope,
  execution,
  workflow,
  approval,
  dryRun,
  wallet,
  walletGrant,
  hold,
  alert,
  adjustment,
  creditNote,
  invoice,
  invoiceExplanation,
  invoiceItem,
  invoicePreview,
  nextInvoice,
  billingRun,
  schedule,
  journal,
  oauth,
  accessKey,
  credential,
  embed,
  ingestion,
  explanation,
  usageEvent,
  usageCorrection,
  repricedAccount,
  promoted,
  repricing,
  repricingChange,
  usageMessage,
  timeline,
  usageTotal,
  ratedTransaction,
  recordType,
  record,
  webhook,
  audit,
  clock,
  status,
  retention,
  change,
  exported,
  exportedAudit,
  exportedBalances,
  exportedBilling,
  exportedFocus,
  exportedUsage,
];

export type Operations = typeof operations;
