import type { TaskCall } from '../messages/definitions/task.js';
import type { DefinitionState } from './state.js';

/** Takes back what was done, the newest first; what cannot be taken back does not keep the rest. */
export async function undoAll(
  { undo, secretMark }: DefinitionState,
  call: (task: TaskCall, path: string) => Promise<unknown>,
): Promise<string[]> {
  const undone: string[] = [];
  for (const { seq, path, call: called, with: given, isLost = false } of [...undo].reverse()) {
    if (isLost) {
      undone.push(`${path} (failed)`);
      continue;
    }
    try {
      await call({ seq, call: called, with: given, isUndo: true, secretMark }, path);
      undone.push(path);
    } catch {
      undone.push(`${path} (failed)`);
    }
  }
  return undone;
}
