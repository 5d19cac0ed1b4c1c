import { ApplicationFailureCategory } from '@temporalio/common';
import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import {
  problemFailureType,
  tooLongFailureType,
  type FlowFailure,
} from '../../messages/flow-run.js';

const shownTypes = new Set<unknown>([problemFailureType, tooLongFailureType]);

/** The failure that a caller is answered; any other error is an internal one. */
export function failureOf(error: unknown): FlowFailure {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && shownTypes.has(cause.type)) {
    return cause.details?.[0] as FlowFailure;
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
