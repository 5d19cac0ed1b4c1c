import { releaseHold } from '../../../commands/balances/hold.js';
import { readBalance } from '../../../commands/balances/settled-reads.js';
import { commitHold } from '../../../flows/commit-hold.js';
import { holdMoney } from '../../../flows/hold-money.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount.js';

export const holdHandlers: Handlers<Operations['hold']> = {
  create: ({ body }, scope, platform) => holdMoney(scope, platform, body),
  commit: ({ params, body }, scope, platform) =>
    commitHold(scope, platform, params.holdId, body.message),
  release: ({ params }, scope) => releaseHold(scope, params.holdId),
  balance: ({ params, query }, scope) => readBalance(scope, params.accountId, query.currency),
};
