import type { FlowBatchCounts, FlowBatchInput } from '../messages/flow-batch.js';
import type { FlowRun } from '../messages/flow-run.js';
import { lastStep } from './runtime/flow-step.js';
import { isAway, persist } from './runtime/repeat-while-away.js';
import { shortSteps } from './runtime/step-timeouts.js';

/** Items of one step: well below the timeout of a local activity, even if each takes 100 ms. */
const portion = 100;

/**
 * Runs a flow for many start nodes, in their order (spec/flows.md R39). Each has an execution of
 * its own; one that fails does not keep the others from being done.
 */
export async function runFlowBatch(run: FlowRun<FlowBatchInput>): Promise<FlowBatchCounts> {
  const { length } = run.input.items;
  let completed = 0;
  let failed = 0;
  for (let from = 0; from < length; from += portion) {
    const input = { from, end: from + portion };
    const counts = await persist(() => shortSteps.runFlowItems({ run, input }), {
      isWorthIt: isAway,
      isLimited: true,
    });
    completed += counts.completed;
    failed += counts.failed;
  }
  return lastStep(shortSteps.endFlowBatch, run, { completed, failed });
}
