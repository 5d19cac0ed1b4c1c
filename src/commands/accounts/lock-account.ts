import type { Knex } from 'knex';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { onceInTransaction } from '../../models/db/once-in-transaction.js';
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
  const account = await onceInTransaction(trx, `account ${accountId}`, async () =>
    Account.query(trx)
      .forTenant(scope.tenantId)
      .existing()
      .findById(accountId)
      .select('id')
      .forShare(),
  );
  if (!account) throw missingAccount(accountId);
}

export const missingAccount = (accountId: string) =>
  problem.validation((nameOf) => `'${nameOf('accountId')}' names no account: '${accountId}'`, {
    field: 'accountId',
    value: accountId,
  });
