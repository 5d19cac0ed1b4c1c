import { ApplicationFailure } from '@temporalio/common';
import { isFlowRun } from '../../messages/flow-run.js';
import {
  allowedChildren,
  unsignedFailureType,
  type ChildToSign,
} from '../../messages/workflow-signature.js';
import type { Platform } from '../../process/platform.js';
import { currentPlace } from './step-once.js';

export function signingActivities({ temporal }: Platform) {
  return {
    /**
     * Signs the workflow that a scheduled workflow starts, since workflow code has no keys. The
     * step itself is refused unless this installation made the schedule; for its tenant it may
     * start only the workflow of that schedule.
     */
    signChild({ run, child }: ChildToSign<{ readonly tenantId: string }>): Promise<string> {
      const allowed = allowedChildren[currentPlace().workflow] ?? [];
      const { type, workflowId, input } = child;
      const isAllowed =
        isFlowRun(input) &&
        allowed.some((one) => one.type === type && one.actor === input.actor) &&
        input.tenantId === run.tenantId;
      if (isAllowed) return temporal.signer.sign({ type, workflowId, input });
      const message = `A workflow of this kind starts no ${type}.`;
      return Promise.reject(ApplicationFailure.nonRetryable(message, unsignedFailureType));
    },
  };
}
