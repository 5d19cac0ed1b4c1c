import { createGrant, revokeGrant } from '../../../commands/balances/grant.js';
import { readEntries, readGrants } from '../../../commands/balances/settle-and-read.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const walletGrantHandlers: Handlers<Operations['walletGrant']> = {
  list: ({ params, query }, scope) => readGrants(scope, params.walletId, query),
  create: ({ params, body }, scope) => createGrant(scope, params.walletId, body),
  revoke: ({ params }, scope) => revokeGrant(scope, params.walletId, params.grantId),
  entries: ({ params, query }, scope) => readEntries(scope, params.walletId, query),
};
