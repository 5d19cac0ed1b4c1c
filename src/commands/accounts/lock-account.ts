import type { Knex } from 'knex';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { heldKey, onceInTransaction } from '../../models/db/once-in-transaction.js';
import { Account } from '../../models/accounts/account.js';

/**
 * Holds the account that `accountId` of a body names against its deletion until the transaction
 * ends. 400: there is none.
 */
export async function holdAccount(
  trx: Knex.Transaction,
  scope: Scope,
  accountId: string,
): Promise<void> {
  const account = await onceInTransaction(trx, heldKey('account', accountId), async () =>
    Account.query(trx)
      .forTenant(scope.tenantId)
      .existing()
      .findById(accountId)
      .select('id')
      .forShare(),
  );
  if (!account) throw missingAccount(accountId);
}

/** The same for the accounts of many bodies, with one statement. 400: the first that there is not. */
export async function holdAccounts(
  trx: Knex.Transaction,
  scope: Scope,
  accountIds: readonly string[],
): Promise<void> {
  const held = await Account.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .findByIds([...new Set(accountIds)])
    .select('id')
    .orderBy('id')
    .forShare();
  const known = new Set(held.map(({ id }) => id));
  const missing = accountIds.find((id) => !known.has(id));
  if (missing !== undefined) throw missingAccount(missing);
}

export const missingAccount = (accountId: string) =>
  problem.validation((nameOf) => `'${nameOf('accountId')}' names no account: '${accountId}'`, {
    field: 'accountId',
    value: accountId,
  });
