import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { databaseProblem } from '../commands/rules/database-problem.js';
import { tookTooLong } from '../kernel/sql-state.js';
import {
  awayFailureType,
  problemFailureType,
  tooLongFailureType,
  type FlowFailure,
} from '../messages/flow-run.js';
import { Problem } from '../kernel/problem.js';

/** Transient problems: the step is retried. */
const passing = new Set(['unavailable', 'overloaded', 'timeout', 'badGateway']);

/** A problem as an execution keeps it. */
export const flowFailure = ({ kind, message, details }: Problem): FlowFailure => ({
  kind,
  message,
  details,
});

/**
 * Maps a step's error to a failure of its workflow: a problem of the request ends the flow at once,
 * without an alarm. Unavailable servers are waited for by retries. Timeouts and faults of the
 * product are retried a few times. `translate` puts a problem into the caller's field names.
 */
export function activityFailure(
  error: unknown,
  translate: (found: Problem) => Problem = (found) => found,
): unknown {
  const known = error instanceof Problem ? error : databaseProblem(error);
  if (!known) return error;
  const found = translate(known);
  const isTooLong = tookTooLong(error);
  if (passing.has(found.kind) && !isTooLong) {
    return ApplicationFailure.retryable(found.message, awayFailureType);
  }
  const failure = flowFailure(found);
  if (isTooLong) return ApplicationFailure.retryable(found.message, tooLongFailureType, failure);
  return ApplicationFailure.create({
    message: found.message,
    type: problemFailureType,
    nonRetryable: true,
    category: ApplicationFailureCategory.BENIGN,
    details: [failure],
  });
}
