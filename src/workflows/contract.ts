import type { FlowInput, FlowRun } from '../messages/flow-run.js';
import { lastStep } from './runtime/flow-step.js';
import { shortSteps } from './runtime/step-timeouts.js';

/** Makes a contract. */
export const createContract = (run: FlowRun<FlowInput>) =>
  lastStep(shortSteps.createContract, run, run.input);

/** Changes a contract. */
export const editContract = (run: FlowRun<FlowInput>) =>
  lastStep(shortSteps.editContract, run, run.input);

/** Deletes a contract. */
export const deleteContract = (run: FlowRun<FlowInput>) =>
  lastStep(shortSteps.deleteContract, run, run.input);

/** Approves a contract. */
export const approveContract = (run: FlowRun<FlowInput>) =>
  lastStep(shortSteps.approveContract, run, run.input);
