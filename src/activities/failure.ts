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

/** Problems that pass by themselves: the step is tried again. */
const passing = new Set(['unavailable', 'overloaded', 'timeout', 'badGateway']);

/**
 * What a step's error is to its workflow: a problem of the caller's ends the flow at once and is no
 * alarm; what is away is waited for; what took too long and errors of ours are tried a few times. `tell` puts a problem in
 * the caller's words.
 */
export function activityFailure(
  error: unknown,
  tell: (found: Problem) => Problem = (found) => found,
): unknown {
  const known = error instanceof Problem ? error : databaseProblem(error);
  if (!known) return error;
  const found = tell(known);
  const isTooLong = tookTooLong(error);
  if (passing.has(found.kind) && !isTooLong) {
    return ApplicationFailure.retryable(found.message, awayFailureType);
  }
  const failure: FlowFailure = {
    kind: found.kind,
    message: found.message,
    details: found.details,
  };
  if (isTooLong) return ApplicationFailure.retryable(found.message, tooLongFailureType, failure);
  return ApplicationFailure.create({
    message: found.message,
    type: problemFailureType,
    nonRetryable: true,
    category: ApplicationFailureCategory.BENIGN,
    details: [failure],
  });
}
