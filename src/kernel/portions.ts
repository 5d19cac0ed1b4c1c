import { nextPortion, portionMs } from './turns.js';

/** What takes more portions than these also leaves others half of the time. */
const quickPortions = 40;

/**
 * Divides a long computation into portions, between which the process answers others: however many
 * such computations there are, what arrives meanwhile waits for one portion. Ask `isOver` after each
 * piece, which is itself to take less than some milliseconds, and await `next` when it is.
 */
export class Portions {
  #endsAt = performance.now() + portionMs;
  #count = 1;

  get isOver(): boolean {
    return performance.now() >= this.#endsAt;
  }

  async next(): Promise<void> {
    this.#count += 1;
    if (this.#count > quickPortions) {
      await new Promise<void>((resolve) => void setTimeout(resolve, portionMs));
    }
    await nextPortion();
    this.#endsAt = performance.now() + portionMs;
  }
}

/** Runs a generator to its end in portions: each of its `yield`s is a place to pause. */
export async function inPortions<R>(pieces: Generator<undefined, R, undefined>): Promise<R> {
  const portions = new Portions();
  for (;;) {
    const { done, value } = pieces.next();
    if (done === true) return value;
    if (portions.isOver) await portions.next();
  }
}

/** `map` in portions. */
export async function mapInPortions<T, R>(
  values: readonly T[],
  map: (value: T, index: number) => R,
): Promise<R[]> {
  const portions = new Portions();
  const results: R[] = [];
  for (const [index, value] of values.entries()) {
    if (portions.isOver) await portions.next();
    results.push(map(value, index));
  }
  return results;
}
