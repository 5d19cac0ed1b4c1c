import { isObject, type Fault } from '../../kernel/expression/json-schema-check.js';
import type { Task, TaskKind } from '../../messages/definitions/definition.js';
import { taskFaults } from '../../schemas/workflows/definition-check.js';

/** A task of which what is at fault in its form is left out, so that the rest of it can be checked, too. */
export interface UsableTask {
  readonly task: Task;
  /** Whether what it does is still there. */
  readonly isWhole: boolean;
  /** Faults of its form; those within its lists of tasks are found with them. */
  readonly faults: readonly Fault[];
}

/** Items of the lists of tasks that a task has. */
const inList = /^\/(do|try|catch\/do|fork\/branches)\/\d+/;

/** Takes away what stands at a pointer; false: it cannot be taken from where it stands. */
function leaveOut(task: object, pointer: string): boolean {
  const parts = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = parts.pop();
  let place: unknown = task;
  for (const part of parts) {
    if (!isObject(place)) return false;
    place = place[part];
  }
  if (last === undefined || !isObject(place) || !Object.hasOwn(place, last)) return false;
  return Reflect.deleteProperty(place, last);
}

/** What of a task of this kind can be checked further. */
export function usableTask(kind: TaskKind, task: object, pointer: string): UsableTask {
  const all = taskFaults(kind, task, pointer);
  const faults = all.filter((fault) => !inList.test(fault.pointer.slice(pointer.length)));
  if (faults.length === 0) return { task: task, isWhole: true, faults };
  const rest = structuredClone(task);
  for (const fault of faults) leaveOut(rest, fault.pointer.slice(pointer.length));
  const left = taskFaults(kind, rest, pointer).filter(
    (fault) => !inList.test(fault.pointer.slice(pointer.length)),
  );
  for (const fault of left) {
    const [, name = ''] = fault.pointer.slice(pointer.length).split('/');
    leaveOut(rest, `/${name}`);
  }
  return { task: rest, isWhole: left.length === 0, faults };
}
