import type { ProblemKind } from '../kernel/problem.js';
import { faultType, type TaskFault } from '../messages/definitions/task.js';

/** What no text of PostgreSQL can have is shown as the replacement character. */
const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD');

/** A task has failed: a `catch` around it may take it. */
export class TaskError extends Error {
  readonly fault: TaskFault;
  /** What we say that it is; a definition that raises an error says it by its status alone. */
  readonly kind: ProblemKind | undefined;

  constructor(fault: TaskFault, kind?: ProblemKind) {
    super(fault.detail);
    this.kind = kind;
    const { type, title, detail } = fault;
    this.fault = {
      ...fault,
      type: storable(type),
      title: storable(title),
      detail: storable(detail),
    };
  }
}

/** The execution goes on in another history; its state says where. */
export class Suspended extends Error {}

export const taskError = (
  instance: string,
  status: number,
  detail: string,
  more: Partial<TaskFault> = {},
  kind?: ProblemKind,
): TaskError => {
  const fault = { type: faultType(status), status, title: kind ?? 'Failed', detail, instance };
  return new TaskError({ ...fault, ...more }, kind);
};

/** What has used up what it may have at most. */
export const limitError = (instance: string, detail: string): TaskError =>
  taskError(instance, 500, detail, {}, 'limitReached');
