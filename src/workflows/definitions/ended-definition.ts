import type { Definition } from '../../messages/definitions/definition.js';
import { faultType, type TaskFault } from '../../messages/definitions/task.js';

/**
 * What is carried on in place of the definition of an execution that is being taken back. A worker whose code is
 * older than that does not know that it is, and begins: it would do all tasks once more. This fails at once.
 */
export function endedDefinition(
  { document }: Definition,
  { status }: Pick<TaskFault, 'status'> = { status: 409 },
): Definition {
  const detail = 'The execution had ended, and is being taken back.';
  const error = { type: faultType(status), status, title: 'Ended', detail };
  return { document, do: [{ ended: { raise: { error } } }] };
}
