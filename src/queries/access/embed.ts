import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { Account } from '../../models/accounts/account.js';

/** 400: a body names no account. */
export async function requireAccount({ db, tenantId }: Scope, accountId: string): Promise<void> {
  const account = await Account.query(db.read)
    .forTenant(tenantId)
    .existing()
    .findById(accountId)
    .select('id');
  if (account) return;
  throw problem.validation(`'accountId' names no account: '${accountId}'`, {
    field: 'accountId',
    value: accountId,
  });
}
