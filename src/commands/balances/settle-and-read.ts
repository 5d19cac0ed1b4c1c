import type { Scope } from '../../kernel/scope.js';
import { listEntries, listGrants } from '../../queries/balances/grant.js';
import { chooseCurrency, readAccountBalance } from '../../queries/balances/account-balance.js';
import { readTrialBalance } from '../../queries/billing/journal/trial-balance.js';
import { settleWallets } from './grant.js';
import { settleAccount } from './holds/release-due-holds.js';
import { isJournalBehind, keepJournal } from '../billing/journal/recognize-deferred.js';

/** Reads of wallets, after what is due has been entered: a balance is never behind its clock. */

export async function readGrants(
  scope: Scope,
  walletId: string,
  page: Parameters<typeof listGrants>[2],
) {
  await settleWallets(scope, [walletId]);
  return listGrants(scope, walletId, page);
}

export async function readEntries(
  scope: Scope,
  walletId: string,
  { kind, grantId, ...page }: Parameters<typeof listEntries>[2] & Parameters<typeof listEntries>[3],
) {
  await settleWallets(scope, [walletId]);
  return listEntries(scope, walletId, page, { kind, grantId });
}

/** What an account has, now. 400: its wallets have several currencies. 404: there is none. */
export async function readBalance(scope: Scope, accountId: string, given: string | undefined) {
  const currency = await chooseCurrency(scope, accountId, given);
  await settleAccount(scope, { accountId, currency });
  return readAccountBalance(scope, accountId, currency);
}

/** Steps of a request; what is further behind is done by the watch. */
const recognitionsMax = 20;

/** A trial balance, after the days that are over were recognized. */
export async function readSettledTrialBalance(
  scope: Scope,
  query: Parameters<typeof readTrialBalance>[1],
) {
  if (await isJournalBehind(scope)) {
    for (let count = 0; count < recognitionsMax && (await keepJournal(scope)); count += 1);
  }
  return readTrialBalance(scope, query);
}
