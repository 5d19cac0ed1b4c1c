import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { statusOfKind, type ProblemKind } from '../../kernel/problem.js';
import { problemFailureType, type FlowFailure } from '../../messages/flow-run.js';

const kinds = Object.entries(statusOfKind) as [ProblemKind, number][];

export const kindWithStatus = (status: number | undefined): ProblemKind | undefined =>
  kinds.find(([, one]) => one === status)?.[0];

/** A failure of the task with this status, which its definition may catch and try again. */
export function taskFailure(
  status: number,
  message: string,
  kind: ProblemKind = kindWithStatus(status) ?? 'badGateway',
): ApplicationFailure {
  const failure: FlowFailure = { kind, message, details: { status } };
  return ApplicationFailure.create({
    message,
    type: problemFailureType,
    nonRetryable: true,
    category: ApplicationFailureCategory.BENIGN,
    details: [failure],
  });
}
