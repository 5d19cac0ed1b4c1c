import { isLongerThan, jsonBytes } from '../kernel/text/json-length.js';
import { definitionLimits, type CallSpec } from '../messages/definitions/definition.js';
import type { TaskCall, Undo } from '../messages/definitions/task.js';
import type { Host } from './host.js';
import type { DefinitionState, Undone } from './state.js';
import { limitError } from './task-error.js';
import type { Values, Variables } from './values.js';

/** Notes what takes tasks back, once they are done (docs/decisions/0491). */
export class Undos {
  readonly #state: DefinitionState;
  readonly #host: Host;
  readonly #values: Values;
  /** Of what is in the state, as JSON. */
  #bytes: number;
  /** Over once nothing is being kept. */
  #turn: Promise<void> = Promise.resolve();

  constructor(state: DefinitionState, host: Host, values: Values) {
    this.#state = state;
    this.#host = host;
    this.#values = values;
    this.#bytes = jsonBytes(state.undo);
  }

  /** Notes it; where that cannot be said, the task has failed and is told as not undone. */
  note(undo: CallSpec, seen: Variables, path: string, seq: number): void {
    const { call } = undo;
    try {
      const given = this.#values.given(undo, seen, path);
      if (this.#host.keepUndos === undefined) this.#checkLength(given, path);
      this.#push([{ seq, path, call, with: given }]);
    } catch (error) {
      this.#push([{ seq, path, call, with: null, isLost: true }]);
      throw error;
    }
  }

  /** Of what is kept nowhere else, all is counted. */
  #checkLength(given: unknown, path: string): void {
    const length = JSON.stringify(given ?? null).length + (this.#state.undoLength ?? 0);
    const most = definitionLimits.undoBytesCarried;
    if (length > most && this.#host.isMeasured !== false) {
      throw limitError(path, `What takes the tasks back has more than ${most} bytes together.`);
    }
    this.#state.undoLength = length;
  }

  #push(calls: readonly Undo[]): void {
    this.#state.undo.push(...calls);
    this.#bytes += jsonBytes(calls);
  }

  /** Whether it is more than is to be carried on. */
  get areMany(): boolean {
    return this.#host.keepUndos !== undefined && this.#bytes > definitionLimits.undoBytes;
  }

  /**
   * Keeps outside of the state what is too much: blocks one after the other, since a later one is called first.
   * Where that cannot be done it is a fault if it `isNeeded`, and tried again by whoever comes next.
   */
  keep(isNeeded: boolean): Promise<void> {
    if (this.#host.isUndoInBlocks === false) {
      return this.#keepFirst(this.#state.undo.length, this.#bytes);
    }
    const keeping = this.#turn.then(async () => {
      while (this.areMany) await this.#keepFirst(...this.#blockOf());
    });
    this.#turn = keeping.catch(() => undefined);
    if (isNeeded) return keeping;
    return keeping.catch((error: unknown) => {
      if (this.#host.isCancellation(error)) throw error;
    });
  }

  /** How many of the oldest are a block, up to the one with which it is too much, and their bytes. */
  #blockOf(): [count: number, bytes: number] {
    let [count, bytes] = [0, 0];
    for (const call of this.#state.undo) {
      count += 1;
      bytes += jsonBytes([call]);
      if (bytes > definitionLimits.undoBytes) break;
    }
    return [count, bytes];
  }

  async #keepFirst(count: number, bytes: number): Promise<void> {
    const calls = this.#state.undo.splice(0, count);
    this.#bytes -= bytes;
    const block = (this.#state.undoBlocks ?? 0) + 1;
    this.#state.undoBlocks = block;
    try {
      await this.#host.keepUndos?.({ block, calls });
    } catch (error) {
      // Older than what branches have done meanwhile.
      this.#state.undo.unshift(...calls);
      this.#bytes += bytes;
      // Where nobody waits for the one before, others may have been kept behind it.
      if (this.#state.undoBlocks === block) this.#state.undoBlocks = block - 1;
      throw error;
    }
  }
}

/** What undoing needs of where it is done. */
export interface UndoMeans {
  readonly call: (task: TaskCall, path: string) => Promise<unknown>;
  /** A block of calls that was kept outside of the state. */
  readonly read: (block: number) => Promise<readonly Undo[]>;
  readonly isHistoryLong: () => boolean;
  /** For dry runs: whether undoing ends with this fault of a call, and does not go on with the next one. */
  readonly isLastFault?: (error: unknown) => boolean;
}

function tell(undone: Undone, name: string, isFailed: boolean): void {
  const bytes = jsonBytes(name) + 1;
  if (undone.more === 0 && undone.bytes + bytes <= definitionLimits.undoneBytes) {
    undone.names.push(name);
    undone.bytes += bytes;
  } else {
    undone.more += 1;
    if (isFailed) undone.moreFailed += 1;
  }
}

/**
 * Takes back what was done, the newest first; what cannot be taken back does not keep the rest. Gives the
 * names of what was; undefined: the history is long, and the state says what is left.
 */
export async function undoAll(
  state: DefinitionState,
  { call, read, isHistoryLong, isLastFault }: UndoMeans,
): Promise<string[] | undefined> {
  const { undo, secretMark } = state;
  const undone = (state.undone ??= { names: [], bytes: 0, more: 0, moreFailed: 0 });
  for (;;) {
    const last = undo.at(-1);
    const { undoBlocks: block = 0 } = state;
    if (last === undefined && block === 0) break;
    // A block that was read is too much to be carried on until a call of it is made.
    if (isHistoryLong() && !isLongerThan(undo, definitionLimits.undoBytes)) return undefined;
    if (last === undefined) {
      const calls = await read(block);
      if (calls.length === 0) tell(undone, 'tasks whose calls are gone (failed)', true);
      undo.push(...calls);
      state.undoBlocks = block - 1;
      continue;
    }
    const { seq, path, call: called, with: given, isLost = false } = last;
    let isDone = !isLost;
    try {
      if (!isLost) await call({ seq, call: called, with: given, isUndo: true, secretMark }, path);
    } catch (error) {
      if (isLastFault?.(error) === true) throw error;
      isDone = false;
    }
    undo.pop();
    tell(undone, isDone ? path : `${path} (failed)`, !isDone);
  }
  const { names, more, moreFailed } = undone;
  return more === 0 ? names : [...names, `and ${more} more, ${moreFailed} of them (failed)`];
}
