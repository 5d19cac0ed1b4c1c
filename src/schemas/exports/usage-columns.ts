import { always, exportRow, perhaps } from './column.js';

export const usageEventColumns = {
  id: always.uuid('Id of the event.'),
  externalTransactionId: perhaps.text("The producer's id; null when it cannot be read."),
  status: always.name('rated, rejected, duplicate or canceled.'),
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
  ratedAt: always.instant('When it became known.'),
  reverses: perhaps.uuid('Of a reversal, the rated transaction that it takes back.'),
  correctionId: perhaps.uuid('The correction that made it; null of what was rated as usage came.'),
};

export const RatedTransactionExport = exportRow(
  ratedTransactionColumns,
  'What a usage event costs an account.',
);

export const correctionColumns = {
  correctionId: always.uuid('Id of the correction.'),
  kind: always.name('cancel or amend of one event, or rerate of a range.'),
  reason: always.text('Why it was corrected.'),
  actor: perhaps.text('Who: subject of the token, or access key.'),
  executionId: always.uuid('The execution that has corrected.'),
  correctedAt: always.instant('When it became known.'),
  position: always.integer('Place of the charge in the correction.'),
  usageEventId: always.uuid('The usage event.'),
  externalTranId: always.text('The externalTransactionId of the event.'),
  accountId: always.uuid('The billed account.'),
  contractId: perhaps.uuid('The contract, if a line of one was running.'),
  serviceId: always.uuid('The service used.'),
  transactionDate: always.date('Day of the usage, in UTC.'),
  currency: always.name('ISO code.'),
  usageType: always.name('Charge or Payout.'),
  before: always.decimal('What it cost before; 0 of a charge that was not there.'),
  after: always.decimal('What it costs now; 0 of a charge that is gone.'),
  difference: always.decimal('after - before.'),
  beforeId: perhaps.uuid('The rated transaction that was reversed.'),
  afterId: perhaps.uuid('The rated transaction in its place.'),
};

export const CorrectionExport = exportRow(
  correctionColumns,
  'A charge before and after a correction, and why it was corrected.',
);
