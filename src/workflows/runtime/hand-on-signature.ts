import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import { workflowInfo, type WorkflowInterceptors } from '@temporalio/workflow';
import { signatureHeader, signatureMemo } from '../../messages/workflow-signature.js';
import { shortSteps } from './step-timeouts.js';

/** Every workflow has modules of its own. */
let own: Headers | undefined;
/** The input of this workflow. */
let started: unknown;

/** Of a workflow that nobody of ours has started there is none: its steps are refused. */
function ownHeaders(): Headers {
  const signature = workflowInfo().memo?.[signatureMemo];
  return signature === undefined
    ? {}
    : { [signatureHeader]: defaultPayloadConverter.toPayload(signature) };
}

const signed = <Input extends { readonly headers: Headers }>(input: Input): Input => {
  own ??= ownHeaders();
  return { ...input, headers: { ...input.headers, ...own } };
};

/**
 * Hands the signature of a workflow to its activities, which check it, and has a step sign its children
 * (docs/decisions/0205). The memo goes on with the workflow from history to history by itself.
 */
export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      execute(input, next) {
        [started] = input.args;
        return next(input);
      },
    },
  ],
  outbound: [
    {
      scheduleActivity: (input, next) => next(signed(input)),
      scheduleLocalActivity: (input, next) => next(signed(input)),
      async startChildWorkflowExecution(input, next) {
        const { workflowType: type, options } = input;
        const child = { type, workflowId: options.workflowId, input: options.args[0] };
        const run = started as { readonly tenantId: string };
        const signature = await shortSteps.signChild({ run, child });
        const memo = { ...options.memo, [signatureMemo]: signature };
        return next({ ...input, options: { ...options, memo } });
      },
    },
  ],
});
