import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import { statusOfKind, type ProblemKind } from '../../kernel/problem.js';
import { faultType, type TaskFault } from '../../messages/definitions/task.js';
import type { FlowFailure } from '../../messages/flow-run.js';
import { failed, failureOf } from '../runtime/failure.js';

/** A task has failed: a `catch` around it may take it. */
export class TaskError extends Error {
  readonly fault: TaskFault;

  constructor(fault: TaskFault) {
    super(fault.detail);
    this.fault = fault;
  }
}

/** The execution goes on in another history; its state says where. */
export class Suspended extends Error {}

export const taskError = (
  instance: string,
  status: number,
  detail: string,
  more: Partial<TaskFault> = {},
): TaskError =>
  new TaskError({ type: faultType(status), status, title: 'Failed', detail, instance, ...more });

/** What a failed activity means to the definition. */
export function errorOfActivity(error: unknown, instance: string): TaskError {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) return taskError(instance, 504, 'It took too long.');
  const { kind, message, details }: FlowFailure = failureOf(cause);
  const own = details['status'];
  const status = typeof own === 'number' ? own : statusOfKind[kind];
  if (kind === 'internal' && cause instanceof ApplicationFailure && cause.type === 'Away') {
    return taskError(instance, 503, 'What it needs did not answer.');
  }
  return taskError(instance, status, message, { title: kind });
}

const kinds = Object.entries(statusOfKind) as [ProblemKind, number][];

/** How an execution fails because of a task. */
export function endOfFault(fault: TaskFault, undone: readonly string[]): ApplicationFailure {
  const kind = kinds.find(([, status]) => status === fault.status)?.[0] ?? 'conflict';
  const message = `${fault.instance}: ${fault.detail}`.slice(0, 2_000);
  return failed({ kind, message, details: { error: fault, undone } }, undefined);
}
