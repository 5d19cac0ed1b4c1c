import type { FlowInput, FlowRun } from '../messages/flow-run.js';
import { lastStep } from './runtime/flow-step.js';
import { shortSteps } from './runtime/step-timeouts.js';

/** Makes a service. */
export const createService = (run: FlowRun<FlowInput>) =>
  lastStep(shortSteps.createService, run, run.input);

/** Changes a service. */
export const editService = (run: FlowRun<FlowInput>) =>
  lastStep(shortSteps.editService, run, run.input);

/** Deletes a service. */
export const deleteService = (run: FlowRun<FlowInput>) =>
  lastStep(shortSteps.deleteService, run, run.input);

/** Approves a service: from then on a changed rate card is a new version. */
export const approveService = (run: FlowRun<FlowInput>) =>
  lastStep(shortSteps.approveService, run, run.input);

/** Copies a service. */
export const cloneService = (run: FlowRun<FlowInput>) =>
  lastStep(shortSteps.cloneService, run, run.input);
