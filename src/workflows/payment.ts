import type { PaymentFlowInput } from '../messages/payment-flow.js';
import type { FlowInput, FlowRun } from '../messages/flow-run.js';
import { lastStep } from './runtime/flow-step.js';
import { shortSteps } from './runtime/step-timeouts.js';

/**
 * The payment manager: saves a payment with its defaults (spec/resources.md R76, spec/flows.md
 * R30).
 */
export const savePayment = (run: FlowRun<PaymentFlowInput>) =>
  lastStep(shortSteps.createPayment, run, run.input);

/** Changes a payment. */
export const editPayment = (run: FlowRun<PaymentFlowInput>) =>
  lastStep(shortSteps.updatePayment, run, run.input);

/** Deletes a payment. */
export const deletePayment = (run: FlowRun<FlowInput>) =>
  lastStep(shortSteps.deletePayment, run, run.input);
