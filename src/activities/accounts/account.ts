import {
  addAccountAddress,
  addAccountContact,
  completeOnboarding,
  draftAccount,
  editAccount,
  onboardAccount,
  removeAccount,
  type OnboardingStep,
} from '../../commands/accounts/account-flow.js';
import { approveAccount } from '../../commands/flows/approve.js';
import { deleteAccount } from '../../commands/accounts/account.js';
import type { FlowInput } from '../../messages/flow-run.js';
import type { Scope } from '../../kernel/scope.js';
import type { Platform } from '../../process/platform.js';
import { getAccount } from '../../queries/accounts/account.js';
import { accountFlows } from '../../schemas/flows/account.js';
import { reviveInput } from '../../schemas/fields/validator.js';
import { flowStep } from '../flows/flow-step.js';
import { actOn, deletedBy, startStep } from '../flows/start-node.js';

/** A step of onboarding: the account that it makes, and the whole start node. */
export interface OnboardingCall extends FlowInput {
  readonly accountId: string;
}

export function accountActivities(platform: Platform) {
  const step = <Output>(work: (scope: Scope, step: OnboardingStep) => Promise<Output>) =>
    flowStep(platform, (scope, { accountId, start }: OnboardingCall) =>
      work(scope, {
        accountId,
        start: reviveInput(accountFlows.createAccount.start, structuredClone(start)),
      }),
    );
  return {
    onboardAccount: step(onboardAccount),
    addAccountContact: step(addAccountContact),
    addAccountAddress: step(addAccountAddress),
    removeAccount: step((scope, { accountId }) => removeAccount(scope, accountId)),
    /** Keeps an onboarding as a draft, or completes one. */
    draftAccount: flowStep(
      platform,
      (scope, { accountId, start: given, isDraft, draftId }: OnboardingCall) => {
        const start = reviveInput(accountFlows.createAccount.start, structuredClone(given));
        const save = { entity: 'account', workflow: 'createAccount', start, isDraft } as const;
        if (draftId === undefined) return draftAccount(scope, save, { accountId, start });
        return completeOnboarding(scope, save, { accountId: draftId, start });
      },
    ),
    editAccount: startStep(platform, 'editAccount', (scope, { resolved, save }) =>
      editAccount(scope, save, resolved),
    ),
    deleteAccount: deletedBy(platform, 'deleteAccount', getAccount, deleteAccount),
    approveAccount: actOn(platform, 'approveAccount', getAccount, approveAccount),
  };
}
