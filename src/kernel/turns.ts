/** Work that has held the thread for so long lets others have their turn. */
export const portionMs = 3;

const waiting: (() => void)[] = [];

/** How long long work rests after a connection has come, and how much of each period in all. */
const restMs = 5;
const restMsMax = 100;
const periodMs = 200;
let periodAt = -Infinity;
let restsUntil = -Infinity;

/**
 * Lets long work rest for a moment: of new connections, one is accepted in each turn of the event loop. At
 * most half of the time, so that nobody can stop it by opening connections.
 */
export function restForConnections(): void {
  const now = performance.now();
  if (now - periodAt > periodMs) periodAt = now;
  restsUntil = Math.min(now + restMs, periodAt + restMsMax);
}

/** Resumes one of those that wait, so that all of them together take one portion of a turn. */
function resumeNext(): void {
  if (performance.now() < restsUntil) {
    setImmediate(resumeNext);
    return;
  }
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(resumeNext);
}

/** Waits for a portion; one of all that wait goes on in each turn of the event loop. */
export function nextPortion(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(resumeNext);
  });
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
    await nextPortion();
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
