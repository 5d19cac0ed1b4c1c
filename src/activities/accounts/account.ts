import { editAccount, onboardAccount } from '../../commands/accounts/account-flow.js';
import { approveAccount } from '../../commands/flows/approve.js';
import { deleteAccount } from '../../commands/accounts/account.js';
import type { FlowInput } from '../../messages/flow-run.js';
import type { Platform } from '../../process/platform.js';
import { getAccount } from '../../queries/accounts/account.js';
import { accountFlows } from '../../schemas/flows/account.js';
import { reviveInput } from '../../schemas/fields/validator.js';
import { flowStep } from '../flows/flow-step.js';
import { actOn, deletedBy, startStep } from '../flows/start-node.js';

/** The start node of onboarding, and the id of the account that it makes. */
interface OnboardingCall extends FlowInput {
  readonly accountId: string;
}

export function accountActivities(platform: Platform) {
  return {
    onboardAccount: flowStep(
      platform,
      (scope, { accountId, start: given, isDraft, draftId }: OnboardingCall) => {
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
