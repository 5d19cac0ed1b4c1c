import type { Knex } from 'knex';
import type { Scope } from '../../../kernel/scope.js';
import { isDue, type AccountCurrency } from '../../../models/balances/wallet-balance.js';
import { WalletHold } from '../../../models/balances/wallet-hold.js';
import { partsOf } from './hold.js';
import { WalletLedger } from '../wallet-ledger.js';

/** Holds whose time is over that one transaction releases. */
const releasedMax = 500;

/** Releases the holds of an account whose time is over; `ledger` has its wallets. */
export async function releaseDue(
  trx: Knex.Transaction,
  { tenantId }: Pick<Scope, 'tenantId'>,
  ledger: WalletLedger,
  account: AccountCurrency,
): Promise<void> {
  const due = await WalletHold.due(trx, tenantId, account, { now: ledger.now, limit: releasedMax });
  for (const hold of due) ledger.release(partsOf(hold), hold.id);
  const ids = due.map(({ id }) => id);
  await WalletHold.end(trx, tenantId, ids, { status: 'expired', endedAt: ledger.now });
}

/** Releases what is over of the holds of an account, and settles its wallets. */
export async function releaseDueOf(scope: Scope, account: AccountCurrency): Promise<void> {
  await scope.db.transaction(async (trx) => {
    const ledger = await WalletLedger.withMoney(trx, scope, [account]);
    if (!ledger) return;
    await releaseDue(trx, scope, ledger, account);
    await ledger.write();
  });
}

/** Does what is due of an account's wallets and holds, so that what is read next is true now. */
export async function settleAccount(scope: Scope, account: AccountCurrency): Promise<void> {
  const { db, tenantId, now } = scope;
  if (await isDue(db.read, tenantId, account, now())) await releaseDueOf(scope, account);
}

/** Releases what is over of the holds of a tenant, of at most so many; returns of how many accounts. */
export async function releaseDueHolds(scope: Scope, limit: number): Promise<number> {
  const { db, tenantId, now } = scope;
  const accounts = await WalletHold.dueAccounts(db.read, tenantId, now(), limit);
  for (const account of accounts) await releaseDueOf(scope, account);
  return accounts.length;
}
