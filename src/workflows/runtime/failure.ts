import { ApplicationFailureCategory } from '@temporalio/common';
import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import {
  problemFailureType,
  tooLongFailureType,
  type FlowFailure,
} from '../../messages/flow-run.js';

const shownTypes = new Set<unknown>([problemFailureType, tooLongFailureType]);

/** Whether a long step, which shows that it is alive, has taken all of its time; short ones are local. */
export const isOutOfTime = (error: unknown): error is ActivityFailure =>
  error instanceof ActivityFailure &&
  error.cause instanceof TimeoutFailure &&
  error.cause.timeoutType === 'START_TO_CLOSE';

/** The failure that a caller is answered; any other error is an internal one. */
export function failureOf(error: unknown): FlowFailure {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && shownTypes.has(cause.type)) {
    return cause.details?.[0] as FlowFailure;
  }
  if (isOutOfTime(error)) {
    const message = `The step '${error.activityType}' took longer than it may, again and again.`;
    return { kind: 'timeout', message, details: { step: error.activityType } };
  }
  return { kind: 'internal', message: 'Something went wrong on our side.', details: {} };
}

/** An error that carries the failure to answer. */
export const failed = (failure: FlowFailure, cause: unknown): ApplicationFailure =>
  ApplicationFailure.create({
    message: failure.message,
    type: problemFailureType,
    nonRetryable: true,
    category: ApplicationFailureCategory.BENIGN,
    details: [failure],
    ...(cause instanceof Error ? { cause } : {}),
  });
