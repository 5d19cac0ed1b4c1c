import {
  createWallet,
  deleteWallet,
  readWallet,
  updateWallet,
} from '../../../commands/payments/wallet.js';
import { listWallets } from '../../../queries/payments/wallet.js';
import type { Operations } from '../../../schemas/index.js';
import { pageRequest } from '../../../schemas/http/paging.js';
import type { Handlers } from '../../mount-operations.js';

export const walletHandlers: Handlers<Operations['wallet']> = {
  list: ({ query: { q, accountId, ...page } }, scope) =>
    listWallets(scope, pageRequest(page), q, accountId === undefined ? {} : { accountId }),
  get: ({ params }, scope) => readWallet(scope, params.walletId),
  create: ({ body }, scope) => createWallet(scope, body),
  update: ({ params, body }, scope) => updateWallet(scope, params.walletId, body),
  delete: ({ params }, scope) => deleteWallet(scope, params.walletId),
};
