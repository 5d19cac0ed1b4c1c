import type { Client, HistoryAndWorkflowId } from '@temporalio/client';
import { Worker, type WorkflowBundle } from '@temporalio/worker';
import type { TestTenant } from './instance.js';

/** The workflow that an execution is run by. */
export async function workflowIdOf(
  { scope, id }: TestTenant,
  executionId: string,
): Promise<string> {
  const { rows } = await scope.db.read.raw<{ rows: { place: string }[] }>(
    'select workflow_id as place from execution where tenant_id = ? and id = ?',
    [id, executionId],
  );
  return rows[0]?.place ?? '';
}

/** The histories over which a workflow goes or went, the first one first. */
export async function historiesOf(client: Client, workflowId: string) {
  const histories = [];
  for (let runId: string | undefined; runId !== '';) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    histories.unshift(history);
    const [first] = history.events ?? [];
    runId = first?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? '';
  }
  return histories;
}

/** Replays them, one after the other, by one worker: to start one takes longer than most histories. */
export async function replayHistories(
  workflowBundle: WorkflowBundle,
  histories: Iterable<HistoryAndWorkflowId> | AsyncIterable<HistoryAndWorkflowId>,
): Promise<void> {
  for await (const { workflowId, error } of Worker.runReplayHistories(
    { workflowBundle },
    histories,
  )) {
    if (error) throw new Error(`${workflowId} takes another way`, { cause: error });
  }
}
