import {
  activateAccount,
  createAccount,
  createAddress,
  deactivateAccount,
  deleteAccount,
  deleteAddress,
  setTaxLabels,
  updateAccount,
  updateAddress,
} from '../../../commands/accounts/account.js';
import {
  getAccountByExternalId,
  getAccountSummary,
  getAddress,
  listAccounts,
  listAddresses,
} from '../../../queries/accounts/account.js';
import type { Operations } from '../../../schemas/index.js';
import { pageRequest } from '../../../schemas/http/paging.js';
import type { Handlers } from '../../mount-operations.js';

export const accountHandlers: Handlers<Operations['account']> = {
  list: ({ query }, scope) => listAccounts(scope, pageRequest(query), query.q, query.order),
  getByExternalId: ({ params }, scope) => getAccountByExternalId(scope, params.externalId),
  get: ({ params, query }, scope) =>
    query.isExternal
      ? getAccountByExternalId(scope, params.accountId)
      : getAccountSummary(scope, params.accountId),
  create: ({ body }, scope) => createAccount(scope, body),
  update: ({ params, body }, scope) => updateAccount(scope, params.accountId, body),
  activate: ({ params }, scope) => activateAccount(scope, params.accountId),
  deactivate: ({ params }, scope) => deactivateAccount(scope, params.accountId),
  setTaxLabels: ({ params, body }, scope) => setTaxLabels(scope, params.accountId, body),
  delete: ({ params }, scope) => deleteAccount(scope, params.accountId),
  listAddresses: ({ params, query }, scope) =>
    listAddresses(scope, params.accountId, pageRequest(query)),
  getAddress: ({ params }, scope) => getAddress(scope, params.accountId, params.addressId),
  createAddress: ({ params, body }, scope) => createAddress(scope, params.accountId, body),
  updateAddress: ({ params, body }, scope) =>
    updateAddress(scope, params.accountId, params.addressId, body),
  deleteAddress: ({ params }, scope) => deleteAddress(scope, params.accountId, params.addressId),
};
