import { patched, workflowInfo } from '@temporalio/workflow';
import { failed } from './failure.js';

/** How long a flow tries to go on whose database is away; then what it did is taken back. */
const budgetMsMax = 600_000;
/**
 * Of the time after which Temporal ends a flow, without a word to it: what is left is for taking back.
 * That time is far longer than the budget, but for flows of former releases.
 */
const budgetShare = 0.9;

/** Whether the flow takes back what it did: that is never given up. */
let isTakingBack = false;

export async function takingBack<T>(work: () => Promise<T>): Promise<T> {
  isTakingBack = true;
  try {
    return await work();
  } finally {
    isTakingBack = false;
  }
}

/**
 * Whether the time of the flow is over at this moment, or will be after a pause. It costs no timer: only
 * a flow whose time is over leaves a mark in its history. One that takes as long as it takes has no limit.
 */
export function isOverBudget(pauseMs = 0): boolean {
  const { executionTimeoutMs, startTime } = workflowInfo();
  if (executionTimeoutMs === undefined || isTakingBack) return false;
  const budgetMs = Math.min(budgetMsMax, budgetShare * executionTimeoutMs);
  if (Date.now() + pauseMs - startTime.getTime() <= budgetMs) return false;
  return patched('run-budget');
}

/** Ends a flow whose time is over, and has its saga take back what it did. */
export const outOfTime = (cause: unknown): Error =>
  failed(
    {
      kind: 'timeout',
      message: 'The work was given up, since what it needs did not answer in time.',
      details: {},
    },
    cause,
  );
