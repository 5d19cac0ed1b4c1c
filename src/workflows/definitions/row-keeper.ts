import type { Host, HostCall } from '../../interpreter/host.js';
import { keptTasks, putValueOf, type KeptTask } from '../../messages/definitions/task.js';

/** Calls and steps of a workflow, as what keeps rows needs them. */
interface Means {
  /**
   * Keeps rows; `isInTurn`: in a step that ends the workflow task; `hidden`: values of secrets that must not
   * be in them.
   */
  keep(rows: readonly KeptTask[], isInTurn: boolean, hidden: readonly string[]): Promise<void>;
  call(call: HostCall, rows?: readonly KeptTask[]): Promise<unknown>;
  /** The answer of a call that was made although it failed; undefined: it was not. */
  answerOf(error: unknown): { readonly answer: unknown } | undefined;
}

/**
 * How the rows of a timeline are kept: `along` with the call that follows them; `before` it, since what a
 * call becomes is to be hidden in all rows before it; as they were before they went along, in histories
 * that are `old`; and before it in those that began when rows were `lost` which other branches noted at that
 * moment.
 */
export type RowsWay = 'along' | 'before' | 'lost' | 'old';

/**
 * How often an execution may keep rows until others have a turn: what it does meanwhile is one workflow
 * task, and that ends with an activity that any worker takes. A timer would end it, too, and takes a second.
 */
const keepsPerTurn = 10;

/** Characters of rows that go with a call: what it is given stands in the history. */
const rowsWithCallMax = 20_000;
const isShort = (rows: readonly KeptTask[]): boolean =>
  JSON.stringify(rows).length <= rowsWithCallMax;

/** A secret that is given its value, by a call that is under way or over. */
interface Put {
  readonly value: string;
  isOver: boolean;
}

/**
 * What secrets were given while the rows were noted that are kept now: all that there are. Those that are
 * noted later are of what is done with a value afterwards.
 */
function takeValues(puts: Set<Put>): readonly string[] {
  const values = new Set<string>();
  for (const put of puts) {
    values.add(put.value);
    if (put.isOver) puts.delete(put);
  }
  return [...values];
}

/** Keeps the rows of an execution, and makes its calls in that order. */
export function rowKeeper(
  way: RowsWay,
  means: Means,
): Pick<Host, 'keepsRowsFirst' | 'keep' | 'call'> {
  let keeps = 0;
  const underWay = new Set<Promise<void>>();
  const puts = new Set<Put>();
  const keepRows = (rows: readonly KeptTask[]): Promise<void> => {
    keeps += 1;
    const isInTurn = keeps >= keepsPerTurn;
    if (isInTurn) keeps = 0;
    const keeping = means.keep(rows, isInTurn, takeValues(puts));
    if (way === 'before' || way === 'lost') {
      const forget = (): void => void underWay.delete(keeping);
      underWay.add(keeping);
      keeping.then(forget, forget);
    }
    return keeping;
  };
  // Cut here: states that are long would go through the step, to be cut behind it.
  const keep: Host['keep'] = (rows) => keepRows(keptTasks(rows));
  if (way === 'old') {
    // A replay takes as many turns of the queue of promises as the code that has written the history.
    return {
      keepsRowsFirst: true,
      keep: async (rows) => keep(rows),
      call: (call) => means.call(call),
    };
  }
  if (way === 'before' || way === 'lost') {
    return {
      keepsRowsFirst: true,
      keep,
      async call(call, rows) {
        const value = putValueOf(call);
        const put = value === undefined ? undefined : { value, isOver: false };
        // Other branches go on meanwhile, and may show it.
        if (put) puts.add(put);
        if (way === 'before' && rows.length > 0) void keepRows(keptTasks(rows));
        // Another branch may have taken the rows of this one.
        await Promise.allSettled(underWay);
        keeps = 0;
        const making = means.call(call);
        if (put) {
          const end = (): void => void (put.isOver = true);
          making.then(end, end);
        }
        return making;
      },
    };
  }
  return {
    keep,
    async call(call, rows) {
      const kept = keptTasks(rows);
      const goAlong = isShort(kept);
      if (!goAlong && rows.length > 0) await keepRows(kept);
      keeps = 0;
      try {
        return await means.call(call, goAlong ? kept : undefined);
      } catch (error) {
        // It may never have begun.
        if (goAlong && kept.length > 0) await keepRows(kept);
        const made = means.answerOf(error);
        if (made === undefined) throw error;
        return made.answer;
      }
    },
  };
}
