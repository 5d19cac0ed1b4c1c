import { faultType, type TaskFault } from '../messages/definitions/task.js';

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
