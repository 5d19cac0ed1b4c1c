import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

/**
 * Milliseconds of processor time that this thread has had. Of a machine that others use too, a clock
 * would also count the time in which they had the processor.
 */
function threadMs(): number {
  try {
    const [ns = '0'] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
    return Number(ns) / 1e6;
  } catch {
    return performance.now();
  }
}

/** What some work did to the thread that serves requests. */
export interface LoopUse {
  /** The longest time in which nothing else could be done. */
  readonly longestMs: number;
  /** The most that the process held above what it held before. */
  readonly grownMiB: number;
}

/** Does some work and watches the event loop of this process meanwhile. */
export async function watchLoop(work: () => Promise<unknown>): Promise<LoopUse> {
  let last = threadMs();
  let longestMs = 0;
  const before = process.memoryUsage.rss();
  let most = before;
  const look = (): void => {
    const now = threadMs();
    longestMs = Math.max(longestMs, now - last);
    last = now;
    most = Math.max(most, process.memoryUsage.rss());
  };
  const timer = setInterval(look, 1);
  try {
    await work();
  } finally {
    look();
    clearInterval(timer);
  }
  return { longestMs, grownMiB: (most - before) / 1024 / 1024 };
}
