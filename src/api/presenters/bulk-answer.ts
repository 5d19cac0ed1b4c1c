import type { Static } from 'typebox';
import { defined } from '../../kernel/defined.js';
import { Problem } from '../../kernel/problem.js';
import type { BulkOutcome } from '../../commands/records/record-bulk.js';
import type { FlowError } from '../../schemas/http/problem.js';
import type { RecordBulkResult } from '../../schemas/records/record.js';
import type { BatchItem } from '../../flows/flow-batch.js';
import type { FlowBatchResult } from '../../schemas/flows/flow-batch.js';
import { external } from '../../schemas/http/operation.js';
import { presentProblem, recordsError } from './problem.js';

/** Each object's record, or the error that a request of its own would have been answered with. */
export function presentBulk({ outcomes }: BulkOutcome): Static<typeof RecordBulkResult> {
  const failed = outcomes.filter((outcome) => outcome instanceof Problem).length;
  return {
    success: failed === 0,
    totalProcessed: outcomes.length,
    created: outcomes.length - failed,
    failed,
    data: outcomes.map((outcome, index) =>
      outcome instanceof Problem ? { index, error: recordsError(outcome) } : outcome,
    ),
  };
}

/**
 * The answer of a batch of a flow: each start node's result, or the error that a request of its own
 * would have been answered with.
 */
export function presentBatch(
  slug: string,
  items: readonly BatchItem[],
): Static<typeof FlowBatchResult> {
  const failed = items.filter((item) => 'problem' in item).length;
  const path = external(`/run/${slug}`);
  return {
    success: failed === 0,
    totalProcessed: items.length,
    completed: items.length - failed,
    failed,
    data: items.map((item, index) => {
      if (!('problem' in item)) {
        const { output, flowExecutionId } = item;
        return { output: output as Record<string, unknown> | null, flowExecutionId };
      }
      const { kind, message, details } = item.problem;
      const { flowExecutionId } = item;
      const failure = new Problem(kind, message, { ...details, ...defined({ flowExecutionId }) });
      return { index, error: presentProblem('flows', failure, path) as Static<typeof FlowError> };
    }),
  };
}
