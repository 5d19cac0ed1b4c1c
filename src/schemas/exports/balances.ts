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
