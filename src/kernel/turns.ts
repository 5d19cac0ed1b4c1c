/** Work that has held the thread for so long lets others have their turn. */
const portionMs = 8;

const waiting: (() => void)[] = [];

/** Resumes one of those that wait, so that all of them together take one portion of a turn. */
function resumeNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(resumeNext);
}

/**
 * Long work in portions: between them the event loop serves other requests. Where several such works
 * are under way, each turn of the event loop has one portion of one of them.
 */
export class Turns {
  #until = performance.now() + portionMs;

  /** Whether the portion is used up; asked often, it costs next to nothing. */
  get isOver(): boolean {
    return performance.now() >= this.#until;
  }

  /** Waits for the next portion, if this one is used up. */
  async rest(): Promise<void> {
    if (!this.isOver) return;
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(resumeNext);
    });
    this.#until = performance.now() + portionMs;
  }
}

/** Calls `work` for each item, in portions. */
export async function eachInTurns<T>(
  items: readonly T[],
  work: (item: T, index: number) => void,
): Promise<void> {
  const turns = new Turns();
  for (const [index, item] of items.entries()) {
    work(item, index);
    if (turns.isOver) await turns.rest();
  }
}

/** What `map` gives for each item, in portions. */
export async function mapInTurns<T, R>(
  items: readonly T[],
  map: (item: T, index: number) => R,
): Promise<R[]> {
  const results: R[] = [];
  await eachInTurns(items, (item, index) => results.push(map(item, index)));
  return results;
}
