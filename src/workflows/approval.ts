import type { AskedDecision } from '../messages/definitions/approval.js';
import type { FlowRun } from '../messages/flow-run.js';
import { lastStep } from './runtime/flow.js';
import { shortSteps } from './runtime/proxies.js';

/** Approves or rejects what waits for it (docs/decisions/0420): all of it is one step. */
export const decideApproval = (run: FlowRun<AskedDecision>) =>
  lastStep(shortSteps.decideApproval, run, run.input);
