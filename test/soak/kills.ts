import { setTimeout as wait } from 'node:timers/promises';
import type { Stage } from './stage.js';

/** What dies, in shares of ten: the process of API and workers, its servers, or all of it at once. */
const kinds = [
  ...Array<'product'>(6).fill('product'),
  ...Array<'servers'>(2).fill('servers'),
  ...Array<'product and servers'>(2).fill('product and servers'),
];
type Kind = (typeof kinds)[number];

const pauseMsMin = 60_000;
const pauseMsMax = 180_000;

/** Numbers from 0 to 1 that follow from a seed (mulberry32), so that a run can be repeated. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function kill(stage: Stage, kind: Kind): Promise<void> {
  const { product } = stage;
  if (kind !== 'product') await product.killServers();
  if (kind !== 'servers') {
    await product.kill();
    await product.launch();
  }
  await stage.untilReady();
}

interface Killing {
  readonly seed: number;
  readonly totalMs: number;
  readonly onKill: (kind: Kind) => void;
  readonly onUp: () => void;
}

/** Kills with SIGKILL every one to three minutes, in a short run oftener, until the time is over. */
export async function killAtRandom(stage: Stage, killing: Killing): Promise<number> {
  const { seed, totalMs, onKill, onUp } = killing;
  const random = randomFrom(seed);
  const end = Date.now() + totalMs;
  const shortening = Math.min(1, totalMs / (2 * pauseMsMax));
  for (let kills = 0; ; kills += 1) {
    const pauseMs = (pauseMsMin + random() * (pauseMsMax - pauseMsMin)) * shortening;
    const kind = kinds[Math.floor(random() * kinds.length)] ?? 'product';
    if (Date.now() + pauseMs >= end) {
      await wait(Math.max(0, end - Date.now()));
      return kills;
    }
    await wait(pauseMs);
    onKill(kind);
    await kill(stage, kind);
    onUp();
  }
}
