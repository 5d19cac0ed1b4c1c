import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { BenchRow } from '../result.js';
import type { Bench } from '../rows.js';
import { budgetRow } from './shown.js';
import { startInstance } from './start.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const budgetSeconds = 30;
/** What the command makes. */
const events = 100_000;

/** `durabill demo --year` on an instance that was just started with an empty folder. */
export async function measureDemo({ tell }: Bench): Promise<BenchRow[]> {
  tell('console: demo');
  const dataDir = await mkdtemp(join(tmpdir(), 'durabill-demo-'));
  const instance = await startInstance(root, dataDir);
  try {
    const since = performance.now();
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [join(root, 'bin/durabill.js'), 'demo', '--year'],
      { env: { ...process.env, ...instance.settings } },
    );
    const seconds = (performance.now() - since) / 1_000;
    const [, rated = '0', rejected = '0'] =
      /events of a year: (\d+) rated, (\d+) rejected/.exec(stdout) ?? [];
    if (Number(rated) + Number(rejected) !== events) throw new Error(stdout);
    const measure = `\`demo --year\`: ${events} events, rated and billed`;
    return [{ ...budgetRow('demo', seconds, 's', budgetSeconds, measure), transactions: events }];
  } finally {
    await instance.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
