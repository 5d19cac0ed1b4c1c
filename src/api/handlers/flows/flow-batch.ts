import { flows, flowList, type FlowWorkflow } from '../../../schemas/flows/index.js';
import type { Operations } from '../../../schemas/index.js';
import { runBatch } from '../../../flows/flow-batch.js';
import type { Handler, Handlers } from '../../mount-operations.js';
import { presentBatch } from '../../presenters/bulk-answer.js';

const runFor =
  (workflow: FlowWorkflow): Handler<Operations['flowBatch'][FlowWorkflow]> =>
  async ({ body: { data: bodies }, idempotencyKey }, scope, platform) =>
    presentBatch(
      flows[workflow].slug,
      await runBatch(scope, platform, { workflow, bodies, idempotencyKey }),
    );

export const flowBatchHandlers = Object.fromEntries(
  flowList.map(([workflow]) => [workflow, runFor(workflow)]),
) as Handlers<Operations['flowBatch']>;
