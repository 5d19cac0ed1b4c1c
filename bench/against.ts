import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from './load.js';
import type { KeptRow } from './result.js';

/** Runs a command where it belongs; what it says is seen as it says it. */
function run(cwd: string, command: string, args: readonly string[]): void {
  const { status } = spawnSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0)
    throw new Error(`'${command} ${args.join(' ')}' ended with ${status ?? 'a signal'}.`);
}

/** The rows that a run of a checkout has just kept, by id. */
function measure(cwd: string, asked: readonly string[]): Map<string, KeptRow> {
  const startedAt = new Date().toISOString();
  run(cwd, 'npm', ['run', '--silent', 'bench', '--', ...asked]);
  const { rows } = JSON.parse(readFileSync(join(cwd, 'bench/results.json'), 'utf8')) as {
    rows: KeptRow[];
  };
  return new Map(
    rows.filter(({ measuredAt }) => measuredAt >= startedAt).map((row) => [row.id, row]),
  );
}

/** A checkout of another commit with what it needs; `close` removes it. */
function checkOut(commit: string): { readonly folder: string; close(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'durabill-against-'));
  run('.', 'git', ['worktree', 'add', '--detach', '--force', folder, commit]);
  run(folder, 'npm', ['ci', '--silent']);
  return {
    folder,
    close() {
      spawnSync('git', ['worktree', 'remove', '--force', folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const figure = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2);

/**
 * Measures this checkout and another commit in turn, each as its own `npm run bench` does it, and
 * prints the medians of both and their ratio. What one has no row for is left out.
 */
export function measureAgainst(commit: string, asked: readonly string[], rounds: number): void {
  const other = checkOut(commit);
  const pairs: (readonly [Map<string, KeptRow>, Map<string, KeptRow>])[] = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      // Whoever is first has the cooler machine: in turn.
      const isFirst = round % 2 === 0;
      const before = isFirst ? undefined : measure(other.folder, asked);
      const own = measure('.', asked);
      pairs.push([own, before ?? measure(other.folder, asked)]);
    }
  } finally {
    other.close();
  }
  const ids = [...(pairs[0]?.[0].keys() ?? [])].filter((id) => pairs[0]?.[1].has(id) === true);
  process.stdout.write(`row  now  ${commit}  now ÷ ${commit}\n`);
  for (const id of ids) {
    const of = (side: 0 | 1) => median(pairs.flatMap((pair) => pair[side].get(id)?.value ?? []));
    const [now, before] = [of(0), of(1)];
    process.stdout.write(
      `${id}  ${figure(now)}  ${figure(before)}  ${(now / before).toFixed(2)}\n`,
    );
  }
}
