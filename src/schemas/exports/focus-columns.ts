import { always, exportRow, perhaps } from './column.js';

/** Charges in the columns of FOCUS 1.2, the FinOps Open Cost and Usage Specification. */
export const focusColumns = {
  BilledCost: always.decimal('The amount; of a payout, which is owed to the account, negative.'),
  EffectiveCost: always.decimal('The same: nothing is paid ahead for single charges.'),
  ContractedCost: always.decimal('The same: it was rated at the prices of the contract.'),
  BillingCurrency: always.name('ISO code.'),
  BillingAccountId: always.uuid('The billed account.'),
  BillingAccountName: always.text('Name of the billed account.'),
  SubAccountId: always.uuid('The account that used it.'),
  SubAccountName: always.text('Name of the account that used it.'),
  ChargeCategory: always.name(
    'Usage; Purchase of subscriptions and one-time charges; Credit of payouts.',
  ),
  ChargeDescription: always.text('What is charged: the name of the service.'),
  ChargeFrequency: always.name(
    'Usage-Based; Recurring of subscriptions, One-Time of one-time charges.',
  ),
  ChargePeriodStart: always.instant(
    'Begin of the day of the usage, or of the first day charged, in UTC.',
  ),
  ChargePeriodEnd: always.instant('Begin of the day after it, or after the last day charged.'),
  PricingCategory: always.name('Standard.'),
  PricingQuantity: always.decimal('How much was priced.'),
  ConsumedQuantity: perhaps.decimal('How much was used; null of a Purchase.'),
  ResourceId: perhaps.text('The instance of the service.'),
  ServiceCategory: always.name('Other: FOCUS has no category of what tenants sell.'),
  ServiceName: always.text('Name of the service.'),
  SkuId: always.uuid('The service.'),
  x_TransactionId: always.uuid('Id of the rated transaction, or of the recurring charge.'),
  x_ExternalTransactionId: perhaps.text(
    'The externalTransactionId of the event; null of a Purchase.',
  ),
  x_ContractId: perhaps.uuid('The contract, if a line of one was running.'),
};

export const FocusExport = exportRow(focusColumns, 'A charge in the columns of FOCUS.');
