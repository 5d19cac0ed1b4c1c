import { editAccount, onboardAccount } from '../../commands/accounts/account-flow.js';
import { approveAccount } from '../../commands/flows/approve-record.js';
import { deleteAccount } from '../../commands/accounts/account.js';
import type { FlowInput } from '../../messages/flow-run.js';
import type { Platform } from '../../process/platform.js';
import { getAccount } from '../../queries/accounts/account.js';
import { accountFlows } from '../../schemas/flows/account.js';
import { reviveInput } from '../../schemas/fields/validator.js';
import { actOn, deletedBy, slugStep, startStep } from '../flows/start-node.js';

export function accountActivities(platform: Platform) {
  return {
    onboardAccount: slugStep(
      platform,
      'createAccount',
      (scope, { start: given, isDraft, draftId }: FlowInput, accountId) => {
        const start = reviveInput(accountFlows.createAccount.start, structuredClone(given));
        const save = { entity: 'account', workflow: 'createAccount', start, isDraft } as const;
        return onboardAccount(scope, save, { accountId, draftId, start });
      },
    ),
    editAccount: startStep(platform, 'editAccount', (scope, { resolved, save }) =>
      editAccount(scope, save, resolved),
    ),
    deleteAccount: deletedBy(platform, 'deleteAccount', getAccount, deleteAccount),
    approveAccount: actOn(platform, 'approveAccount', getAccount, approveAccount),
  };
}
