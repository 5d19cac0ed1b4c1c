import { always, exportRow, perhaps } from './column.js';

export const walletEntryColumns = {
  at: always.instant('When it was entered.'),
  walletId: always.uuid('The wallet.'),
  number: always.integer('Its number in the wallet, from 1, without gaps.'),
  accountId: always.uuid('The account of the wallet.'),
  currency: perhaps.name('ISO code of the currency of the wallet.'),
  kind: always.name('grant, draw, return, hold, release, expire or revoke.'),
  amount: always.decimal('What it moves the balance by, with its sign; 0 of holds and releases.'),
  held: perhaps.decimal('What a hold promises, or a release frees.'),
  balanceAfter: always.decimal('The balance with it.'),
  grantId: always.uuid('The grant whose money it is.'),
  grantKind: always.name('purchased or promotional.'),
  externalId: always.text('The externalId of that grant.'),
  chargeId: perhaps.uuid('The charge that caused it.'),
  holdId: perhaps.uuid('The hold that caused it.'),
};

export const WalletEntryExport = exportRow(walletEntryColumns, 'A line of the ledger of a wallet.');

export const journalColumns = {
  at: always.instant('When it was booked; of usage the minute in which it was rated.'),
  entryId: always.uuid('Id of the entry, whose postings add up to zero.'),
  position: always.integer('Place of the posting in the entry, from 1.'),
  kind: always.name('Of the entry, such as usage, invoice or payment.'),
  accountId: always.uuid('The billed account.'),
  account: always.name('The account of the ledger, such as receivable.'),
  amount: always.decimal('Above zero a debit, below a credit.'),
  currency: always.name('ISO code; XXX of a wallet without a currency.'),
  recordType: perhaps.name('invoice, payment, wallet or charge.'),
  recordId: perhaps.uuid('Id of that record.'),
};

export const JournalExport = exportRow(journalColumns, 'A posting of the journal.');
