import type { FlowRun } from '../kernel/flow-run.js';
import { lastStep } from './flow.js';
import { shortSteps } from './proxies.js';

/** The payment manager: saves a payment with its defaults (document 1, section 4.4). */
export function savePayment(run: FlowRun<{ readonly payment: unknown }>) {
  return lastStep(shortSteps.createPayment, run, run.input);
}

/** Changes a payment. */
export function editPayment(run: FlowRun<{ readonly id: string; readonly payment: unknown }>) {
  return lastStep(shortSteps.updatePayment, run, run.input);
}

/** Deletes a payment. */
export function deletePayment(run: FlowRun<{ readonly id: string }>) {
  return lastStep(shortSteps.deletePayment, run, run.input);
}
