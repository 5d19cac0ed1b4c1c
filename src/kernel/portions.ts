/** Time after which work yields the event loop. */
const portionMs = 3;

const waiting: (() => void)[] = [];

/** Resumes one of those that wait, so that all of them together take one portion of a turn. */
function resumeNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(resumeNext);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** Waits for a portion; one of all that wait goes on in each turn of the event loop. */
function nextPortion(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(resumeNext);
  });
}

/** Work that has taken longer also pauses after each portion, for as long as that took. */
const quickMs = 120;
const pauseMaxMs = 100;

/**
 * Divides long work into portions, between which the event loop serves other work; of all such
 * work, one portion runs in each turn of the loop. Call `rest` after each piece of at most some
 * milliseconds; check `isOver` first if pieces are small.
 */
export class Portions {
  #since = performance.now();
  #spent = 0;

  /** Whether the portion is used up; asked often, it costs next to nothing. */
  get isOver(): boolean {
    return performance.now() - this.#since >= portionMs;
  }

  /** Waits for the next portion, if this one is used up. */
  async rest(): Promise<void> {
    if (!this.isOver) return;
    const took = performance.now() - this.#since;
    this.#spent += took;
    // A piece that cannot be divided may take much longer than a portion.
    if (this.#spent > quickMs) await pause(Math.min(took, pauseMaxMs));
    await nextPortion();
    this.#since = performance.now();
  }
}

/** Runs a generator to its end in portions: each of its `yield`s is a place to pause. */
export async function inPortions<R>(pieces: Generator<undefined, R, undefined>): Promise<R> {
  const portions = new Portions();
  for (;;) {
    const { done, value } = pieces.next();
    if (done === true) return value;
    if (portions.isOver) await portions.rest();
  }
}

/** Calls `work` for each item, in portions. */
export async function eachInPortions<T>(
  items: readonly T[],
  work: (item: T, index: number) => void,
): Promise<void> {
  const portions = new Portions();
  for (const [index, item] of items.entries()) {
    work(item, index);
    if (portions.isOver) await portions.rest();
  }
}

/** What `map` gives for each item, in portions; one item after the other, where one may itself take several. */
export async function mapInPortions<T, R>(
  items: readonly T[],
  map: (item: T, index: number) => R | Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const portions = new Portions();
  for (const [index, item] of items.entries()) {
    const result = map(item, index);
    results.push(result instanceof Promise ? await result : result);
    if (portions.isOver) await portions.rest();
  }
  return results;
}
