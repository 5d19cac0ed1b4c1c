import { seededId } from '../../kernel/id.js';
import type { Scope } from '../../kernel/scope.js';
import type { FlowOutcome } from '../../messages/flow-run.js';
import { findFlowOutcomes } from './execution.js';

/** The id of the execution of an item of a batch. */
export const itemExecutionId = (batchExecutionId: string, index: number): string =>
  seededId(batchExecutionId, String(index));

/** What came of an item, and the id of its execution. */
export interface ItemOutcome {
  readonly executionId: string;
  readonly outcome: FlowOutcome;
}

/** Bytes of outputs in the answer of a batch. */
const outputBytesMax = 8 * 1024 * 1024;

/** What came of items of a batch, by their places; outputs beyond `outputBytesMax` are null. */
export async function findItemOutcomes(
  scope: Scope,
  batchExecutionId: string,
  indexes: readonly number[],
): Promise<ReadonlyMap<number, ItemOutcome>> {
  const ids = new Map(indexes.map((index) => [itemExecutionId(batchExecutionId, index), index]));
  const found = await findFlowOutcomes(scope, [...ids.keys()], outputBytesMax);
  return new Map(
    [...found].map(([executionId, outcome]) => [
      ids.get(executionId) ?? -1,
      { executionId, outcome },
    ]),
  );
}
