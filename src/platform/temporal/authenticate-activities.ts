import { ApplicationFailure, defaultPayloadConverter, type Headers } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import {
  inputOfCall,
  signatureHeader,
  unsignedFailureType,
} from '../../messages/workflow-signature.js';
import type { Logger } from '../log.js';
import type { WorkflowSigner } from './workflow-signature.js';

const signatureOf = (headers: Headers): unknown => {
  const payload = headers[signatureHeader];
  return payload === undefined ? undefined : defaultPayloadConverter.fromPayload(payload);
};

/**
 * Refuses activities of a workflow that this installation did not start, or that it started for
 * another tenant, actor, execution or input: nothing is done, the workflow fails, and the refusal
 * is logged.
 */
export const authenticateActivities =
  (signer: WorkflowSigner, log: Logger): ActivityInterceptorsFactory =>
  ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const { workflowExecution, workflowType: type = '', activityType } = info;
        const { workflowId = '', runId = '' } = workflowExecution ?? {};
        const workflow = { type, workflowId, input: inputOfCall(type, input.args[0]) };
        const signature = signatureOf(input.headers);
        if (await signer.isSigned(workflow, signature)) return next(input);
        if (signature === undefined && signer.acceptsUnsigned()) return next(input);
        log.error(
          { security: 'unauthenticated workflow', workflow: type, workflowId, runId, activityType },
          signature === undefined
            ? 'refused a step of a workflow without a signature'
            : 'refused a step of a workflow whose signature is not of this input',
        );
        const message = 'The workflow was not started by this installation, or with another input.';
        throw ApplicationFailure.nonRetryable(message, unsignedFailureType);
      },
    },
  });
