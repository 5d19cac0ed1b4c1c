import { isObject } from '../../kernel/expression/json-schema-check.js';
import { problem, statusOfKind } from '../../kernel/problem.js';
import type { TaskCall } from '../../messages/definitions/task.js';
import { kindWithStatus, taskFailure } from './task-failure.js';

/** The operation that a call stands for, and what of its answer the task gives. */
interface CalledOperation {
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly read: (answer: unknown) => unknown;
}

/** The output of an execution that has completed; its error is that of the task. */
function outputOf(answer: unknown): unknown {
  const { status, output, error } = answer as {
    readonly status: string;
    readonly output: unknown;
    readonly error: { readonly message: string; readonly status: number } | null;
  };
  if (status === 'completed') return output;
  const kind = kindWithStatus(error?.status) ?? 'conflict';
  // It has ended: asked again, it says the same.
  const message = error?.message ?? `The execution is ${status}.`;
  throw taskFailure(statusOfKind[kind], message, kind);
}

/** Every call is one of an operation: flows are executed, a price is a simulation. */
export function operationOf({ call, with: given }: TaskCall): CalledOperation {
  const same = (answer: unknown): unknown => answer;
  if (call === 'durabill.price') {
    return { operationId: 'simulateUsage', parameters: {}, body: given, read: same };
  }
  if (call === 'durabill.operation' && isObject(given)) {
    const { operationId, parameters, body } = given;
    return {
      operationId: String(operationId),
      parameters: isObject(parameters) ? parameters : {},
      body,
      read: same,
    };
  }
  const flow = call.startsWith('durabill.') ? call.slice('durabill.'.length) : '';
  if (flow === '' || ['operation', 'approval'].includes(flow)) {
    throw problem.validation(`'${call}' is not carried out yet, or not with this.`);
  }
  return {
    operationId: 'executeWorkflow',
    parameters: { workflowId: flow },
    body: { data: given ?? {} },
    read: outputOf,
  };
}
