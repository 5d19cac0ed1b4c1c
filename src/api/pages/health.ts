import type Router from '@koa/router';
import type { Context } from 'koa';
import type { Platform } from '../../process/platform.js';

/** Whether a part answers, within two seconds. */
async function answers(ping: () => Promise<unknown>): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => setTimeout(resolve, 2_000, false).unref());
  return Promise.race([
    ping().then(
      () => true,
      () => false,
    ),
    late,
  ]);
}

/** Which parts of an instance answer. */
export async function askParts({ database, temporal, broker }: Platform) {
  const [isDatabaseUp, isTemporalUp, isBrokerUp] = await Promise.all([
    answers(() => database.ping()),
    answers(() => temporal.ping()),
    answers(() => broker.ping()),
  ]);
  return { database: isDatabaseUp, temporal: isTemporalUp, broker: isBrokerUp };
}

/** Which cells beside the home database answer; their tenants alone miss one that does not. */
export async function askCells({ database: { home, cells } }: Platform) {
  const others = cells.filter((cell) => cell !== home);
  const answer = await Promise.all(others.map((cell) => answers(() => cell.ping())));
  return new Map(others.map(({ name }, index) => [name, answer[index] ?? false]));
}

/** For how long an answer about the parts is good: who asks more often learns nothing more. */
const readyMs = 1_000;

/** What is asked for at most once a second, however many want to know. */
function remembered<T>(ask: (platform: Platform) => Promise<T>) {
  const asked = new WeakMap<Platform, { readonly at: number; readonly answer: Promise<T> }>();
  return (platform: Platform): Promise<T> => {
    const now = performance.now();
    const known = asked.get(platform);
    if (known !== undefined && now - known.at <= readyMs) return known.answer;
    const answer = ask(platform);
    asked.set(platform, { at: now, answer });
    return answer;
  };
}

/** Apart from the cells: one that hangs is waited for by nobody who does not ask for it. */
export const knownParts = remembered(askParts);
const knownCells = remembered(askCells);

/** Whether the process lives, and whether it can do its work. */
export function mountHealth(router: Router, platform: Platform): void {
  router.get('/healthz', (ctx: Context) => {
    ctx.body = { status: 'alive' };
  });
  router.get('/readyz', async (ctx: Context) => {
    const [{ database, temporal, broker }, cells] = await Promise.all([
      knownParts(platform),
      knownCells(platform),
    ]);
    const { areWorkersRunning, isEnding } = platform.health;
    const worker = areWorkersRunning ?? true;
    const isReady = database && temporal && broker && worker && !isEnding;
    ctx.status = isReady ? 200 : 503;
    const status = isReady ? 'ready' : 'not ready';
    const others = cells.size === 0 ? undefined : Object.fromEntries(cells);
    ctx.body = { status, database, temporal, worker, broker, cells: others };
  });
}
