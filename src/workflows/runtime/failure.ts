import { ApplicationFailureCategory } from '@temporalio/common';
import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import {
  problemFailureType,
  tooLongFailureType,
  type FlowFailure,
} from '../../messages/flow-run.js';

const told = new Set<unknown>([problemFailureType, tooLongFailureType]);

/** What a caller is told of an error; anything that is no problem of theirs is one of ours. */
export function failureOf(error: unknown): FlowFailure {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && told.has(cause.type)) {
    return cause.details?.[0] as FlowFailure;
  }
  return { kind: 'internal', message: 'Something went wrong on our side.', details: {} };
}

/** An error that carries what a caller is told. */
export const failed = (failure: FlowFailure, cause: unknown): ApplicationFailure =>
  ApplicationFailure.create({
    message: failure.message,
    type: problemFailureType,
    nonRetryable: true,
    category: ApplicationFailureCategory.BENIGN,
    details: [failure],
    ...(cause instanceof Error ? { cause } : {}),
  });
