import type { FlowInput, FlowRun } from '../messages/flow-run.js';
import { lastStep, step } from './runtime/flow.js';
import { shortSteps } from './runtime/proxies.js';
import { saga } from './runtime/saga.js';

/** Onboarding: the account, its contact, its address; what fails halfway is taken back. */
export function createAccount(run: FlowRun<FlowInput>) {
  // The account has the id of the execution, so that it can be taken back whatever is known of it.
  const input = { ...run.input, accountId: run.executionId };
  if (input.isDraft || input.draftId !== undefined) {
    return lastStep(shortSteps.draftAccount, run, input);
  }
  return saga(async (undo) => {
    undo('onboardAccount', () => step(shortSteps.removeAccount, run, input));
    await step(shortSteps.onboardAccount, run, input);
    await step(shortSteps.addAccountContact, run, input);
    return lastStep(shortSteps.addAccountAddress, run, input);
  });
}

/** Changes an account; a draft is completed. */
export const editAccount = (run: FlowRun<FlowInput>) =>
  lastStep(shortSteps.editAccount, run, run.input);

/** Deletes an account. */
export const deleteAccount = (run: FlowRun<FlowInput>) =>
  lastStep(shortSteps.deleteAccount, run, run.input);

/** Approves an account. */
export const approveAccount = (run: FlowRun<FlowInput>) =>
  lastStep(shortSteps.approveAccount, run, run.input);
