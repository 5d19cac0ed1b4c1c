import { workflowInfo } from '@temporalio/workflow';
import { failed } from './failure.js';

/** How long a flow tries to go on whose database is away. */
const budgetMsMax = 600_000;
/** Of the time after which Temporal ends a flow, without a word to it. That is far longer, or should be. */
const budgetShare = 0.9;

/**
 * Whether the time of the flow is over at this moment, or will be after a pause. It costs no timer. A
 * workflow that takes as long as it takes has no limit.
 */
export function isOverBudget(pauseMs = 0): boolean {
  const { executionTimeoutMs, startTime } = workflowInfo();
  if (executionTimeoutMs === undefined) return false;
  const budgetMs = Math.min(budgetMsMax, budgetShare * executionTimeoutMs);
  return Date.now() + pauseMs - startTime.getTime() > budgetMs;
}

/** Ends a flow whose time is over. */
export const outOfTime = (cause: unknown): Error =>
  failed(
    {
      kind: 'timeout',
      message: 'The work was given up, since what it needs did not answer in time.',
      details: {},
    },
    cause,
  );
