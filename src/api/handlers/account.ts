import { createAccount, updateAccount } from '../../commands/account.js';
import { getAccountByExternalId, getAccountSummary, listAccounts } from '../../queries/account.js';
import type { Operations } from '../../schemas/index.js';
import { pageRequest } from '../../schemas/paging.js';
import type { Handlers } from '../mount.js';

export const accountHandlers: Handlers<Operations['account']> = {
  list: ({ query }, scope) => listAccounts(scope, pageRequest(query), query.q),
  getByExternalId: ({ params }, scope) => getAccountByExternalId(scope, params.externalId),
  get: ({ params, query }, scope) =>
    query.isExternal
      ? getAccountByExternalId(scope, params.accountId)
      : getAccountSummary(scope, params.accountId),
  create: ({ body }, scope) => createAccount(scope, body),
  update: ({ params, body }, scope) => updateAccount(scope, params.accountId, body),
};
