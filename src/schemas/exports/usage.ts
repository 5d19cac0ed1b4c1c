import { always, exportRow, perhaps } from './column.js';

export const usageEventColumns = {
  id: always.uuid('Id of the event.'),
  externalTransactionId: perhaps.text("The producer's id; null when it cannot be read."),
  status: always.name('rated, rejected or duplicate.'),
  code: perhaps.name('Why it was rejected.'),
  reason: perhaps.text('What has to be mended.'),
  accountId: perhaps.uuid('The account that used it, where it is known.'),
  serviceId: perhaps.uuid('The service that the event names.'),
  eventTimestamp: perhaps.instant('When the usage occurred, in UTC.'),
  originalId: perhaps.uuid('The event that this one repeats or contradicts.'),
  morgId: perhaps.text('Organization of the event.'),
  partition: always.integer('Partition of the topic.'),
  offset: always.integer('Place in the partition.'),
  receivedAt: always.instant('When the broker took it.'),
  processedAt: always.instant('When it was rated, rejected or recognized as a duplicate.'),
  message: perhaps.text(
    'The event as it was sent: the text of its JSON; null where retention has removed it.',
  ),
};

export const UsageEventExport = exportRow(
  usageEventColumns,
  'A usage event that was processed, and what became of it.',
);

export const ratedTransactionColumns = {
  id: always.uuid('Id of the rated transaction.'),
  usageEventId: always.uuid('The usage event that it charges.'),
  externalTranId: always.text('The externalTransactionId of the event.'),
  transactionDate: always.date('Day of the usage, in UTC.'),
  accountId: always.uuid('The billed account.'),
  masterAccountId: always.uuid('The account that used it.'),
  serviceId: always.uuid('The service used.'),
  serviceInstanceId: perhaps.text('The instance of the service.'),
  contractId: perhaps.uuid('The contract, if a line of one was running.'),
  contractServiceId: perhaps.uuid('The line of that contract.'),
  amount: always.decimal('What it costs, to 10 decimal places.'),
  discount: always.decimal('Discount.'),
  taxAmount: always.decimal('Tax.'),
  quantity: always.decimal('How much was used.'),
  currency: always.name('ISO code.'),
  usageType: always.name('Charge or Payout.'),
  chargeType: always.name('Usage, Subscription or OTC.'),
  ratedAt: always.instant('When it was rated.'),
};

export const RatedTransactionExport = exportRow(
  ratedTransactionColumns,
  'What a usage event costs an account.',
);
