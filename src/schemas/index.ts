import * as account from './account.js';
import * as attribute from './attribute.js';
import * as audit from './audit.js';
import * as contract from './contract.js';
import * as contractAttachment from './contract-attachment.js';
import * as contractService from './contract-service.js';
import * as contractServiceAttribute from './contract-service-attribute.js';
import * as credential from './credential.js';
import * as execution from './execution.js';
import * as exceptionCard from './exception-card.js';
import * as flow from './flow.js';
import { flowBodies, flowOperations } from './flows/index.js';
import * as ingestion from './ingestion.js';
import * as invoice from './invoice.js';
import * as invoiceExplanation from './invoice-explanation.js';
import * as invoiceItem from './invoice-item.js';
import * as oauth from './oauth.js';
import * as payment from './payment.js';
import * as paymentApplication from './payment-application.js';
import * as priceMatrix from './price-matrix.js';
import * as pricingLogic from './pricing-logic.js';
import * as rateCard from './rate-card.js';
import * as rateComputation from './rate-computation.js';
import * as ratedTransaction from './rated-transaction.js';
import * as record from './record.js';
import * as recordType from './record-type.js';
import * as referenceData from './reference-data.js';
import * as service from './service.js';
import * as serviceLayout from './service-layout.js';
import * as taxRate from './tax-rate.js';
import * as usageEvent from './usage-event.js';
import * as usageMessage from './usage-message.js';
import * as wallet from './wallet.js';
import * as webhook from './webhook.js';

/** Every HTTP operation, by resource. A new resource is one line here and one in `modules`. */
export const operations = {
  account: account.accountOperations,
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
  invoice: invoice.invoiceOperations,
  flow: flowOperations,
  flowContract: execution.flowContractOperations,
  execution: execution.executionOperations,
  oauth: oauth.oauthOperations,
  oauthGrant: credential.grantOperations,
  tokenRevocation: credential.tokenRevocationOperations,
  ingestion: ingestion.ingestionOperations,
  usageEvent: usageEvent.usageEventOperations,
  ratedTransaction: ratedTransaction.ratedTransactionOperations,
  recordType: recordType.recordTypeOperations,
  record: record.recordOperations,
  webhook: webhook.webhookOperations,
  audit: audit.auditOperations,
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
  flowBodies,
  execution,
  wallet,
  invoice,
  invoiceExplanation,
  invoiceItem,
  oauth,
  credential,
  ingestion,
  usageEvent,
  usageMessage,
  ratedTransaction,
  recordType,
  record,
  webhook,
  audit,
];

export type Operations = typeof operations;
