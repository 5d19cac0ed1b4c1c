import type { FlowInput, FlowRun } from '../messages/flow-run.js';
import { lastStep } from './runtime/flow-step.js';
import { shortSteps } from './runtime/step-timeouts.js';

/** Onboarding: the account (its id is that of the execution), its contact and its address, or a draft. */
export const createAccount = (run: FlowRun<FlowInput>) =>
  lastStep(shortSteps.onboardAccount, run, run.input);

/** Changes an account; a draft is completed. */
export const editAccount = (run: FlowRun<FlowInput>) =>
  lastStep(shortSteps.editAccount, run, run.input);

/** Deletes an account. */
export const deleteAccount = (run: FlowRun<FlowInput>) =>
  lastStep(shortSteps.deleteAccount, run, run.input);

/** Approves an account. */
export const approveAccount = (run: FlowRun<FlowInput>) =>
  lastStep(shortSteps.approveAccount, run, run.input);
