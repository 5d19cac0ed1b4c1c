import { readBalance } from '../../../commands/balances/settle-and-read.js';
import { commitHold } from '../../../flows/balances/commit-hold.js';
import { makeHold } from '../../../flows/balances/make-hold.js';
import { releaseHold } from '../../../flows/balances/release-hold.js';
import { listHolds } from '../../../queries/balances/hold.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const holdHandlers: Handlers<Operations['hold']> = {
  create: ({ body }, scope, platform) => makeHold(scope, platform, body),
  commit: ({ params, body }, scope, platform) =>
    commitHold(scope, platform, params.holdId, body.message),
  release: ({ params }, scope, platform) => releaseHold(scope, platform, params.holdId),
  list: ({ params, query }, scope) => listHolds(scope, params.accountId, query),
  balance: ({ params, query }, scope) => readBalance(scope, params.accountId, query.currency),
};
