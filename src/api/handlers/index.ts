import type { Operations } from '../../schemas/index.js';
import type { Handlers } from '../mount.js';
import { accountHandlers } from './account.js';
import { attributeHandlers } from './attribute.js';
import { auditHandlers } from './audit.js';
import { contractHandlers } from './contract.js';
import { contractAttachmentHandlers } from './contract-attachment.js';
import { contractServiceHandlers } from './contract-service.js';
import { contractServiceAttributeHandlers } from './contract-service-attribute.js';
import { grantHandlers, tokenRevocationHandlers } from './credential.js';
import { exceptionCardHandlers } from './exception-card.js';
import { executionHandlers } from './execution.js';
import { flowContractHandlers } from './flow-contract.js';
import { flowHandlers } from './flow.js';
import { ingestionHandlers } from './ingestion.js';
import { invoiceHandlers } from './invoice.js';
import { oauthHandlers } from './oauth.js';
import { paymentHandlers } from './payment.js';
import { paymentApplicationHandlers } from './payment-application.js';
import { priceMatrixHandlers } from './price-matrix.js';
import { pricingLogicHandlers } from './pricing-logic.js';
import { rateCardHandlers } from './rate-card.js';
import { rateComputationHandlers } from './rate-computation.js';
import { ratedTransactionHandlers } from './rated-transaction.js';
import { recordHandlers } from './record.js';
import { recordTypeHandlers } from './record-type.js';
import { referenceDataHandlers } from './reference-data.js';
import { serviceHandlers } from './service.js';
import { serviceLayoutHandlers } from './service-layout.js';
import { taxRateHandlers } from './tax-rate.js';
import { usageEventHandlers } from './usage-event.js';
import { walletHandlers } from './wallet.js';
import { webhookHandlers } from './webhook.js';

export const handlers: { readonly [K in keyof Operations]: Handlers<Operations[K]> } = {
  account: accountHandlers,
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
  invoice: invoiceHandlers,
  flow: flowHandlers,
  flowContract: flowContractHandlers,
  execution: executionHandlers,
  oauth: oauthHandlers,
  oauthGrant: grantHandlers,
  tokenRevocation: tokenRevocationHandlers,
  ingestion: ingestionHandlers,
  usageEvent: usageEventHandlers,
  ratedTransaction: ratedTransactionHandlers,
  recordType: recordTypeHandlers,
  record: recordHandlers,
  webhook: webhookHandlers,
  audit: auditHandlers,
};
