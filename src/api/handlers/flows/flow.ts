import { flowList, type FlowWorkflow } from '../../../schemas/flows/index.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handler, Handlers } from '../../mount-operations.js';
import { runSlug } from '../../../flows/run-by-slug.js';

/** Every slug is run alike: what it does is in its workflow. */
const runWorkflow =
  (workflow: FlowWorkflow): Handler<Operations['flow'][FlowWorkflow]> =>
  async ({ query, body, idempotencyKey }, scope, platform) => {
    const { executionId, output } = await runSlug(scope, platform, {
      workflow,
      body,
      idempotencyKey,
      isDraft: query.draftMode,
    });
    return { output: output as Record<string, unknown>, flowExecutionId: executionId };
  };

export const flowHandlers = Object.fromEntries(
  flowList.map(([workflow]) => [workflow, runWorkflow(workflow)]),
) as Handlers<Operations['flow']>;
