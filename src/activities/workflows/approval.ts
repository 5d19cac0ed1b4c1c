import { decideApproval } from '../../commands/workflows/approval.js';
import type { AskedDecision } from '../../messages/definitions/approval.js';
import type { Platform } from '../../process/platform.js';
import { flowStep } from '../flows/flow-step.js';

export function approvalActivities(platform: Platform) {
  return {
    /** Decides an approval. */
    decideApproval: flowStep(platform, (scope, asked: AskedDecision) =>
      decideApproval(scope, asked),
    ),
  };
}
