import type { judgeMemory } from './memory.js';
import type { Check } from './stage.js';
import type { Traffic } from './traffic.js';

const since = Date.now();
const clock = (): string => `${((Date.now() - since) / 1000).toFixed(0).padStart(5)} s`;

/** A line of its own. */
export function tell(text: string): void {
  const erase = process.stderr.isTTY ? '\r\u001b[K' : '';
  process.stderr.write(`${erase}soak ${clock()}: ${text}\n`);
}

/** Shows how far it is: on a terminal in one line that changes, else once a minute. */
export function showProgress(describe: () => string): () => void {
  const { isTTY, columns = 80 } = process.stderr;
  const show = (): void => {
    if (!isTTY) tell(describe());
    else
      process.stderr.write(`\r\u001b[K${`soak ${clock()}: ${describe()}`.slice(0, columns - 1)}`);
  };
  const timer = setInterval(show, isTTY ? 1_000 : 60_000);
  return () => {
    clearInterval(timer);
    if (isTTY) process.stderr.write('\r\u001b[K');
  };
}

/** `200: 35120, 503: 12`; 0 stands for no answer. */
export function describeStatuses({ statuses }: Traffic): string {
  const sorted = [...statuses].sort(([a], [b]) => a - b);
  return sorted
    .map(([status, count]) => `${status === 0 ? 'no answer' : status}: ${count}`)
    .join(', ');
}

/** Of each part, whether its memory stayed flat; none where there are too few samples to say. */
export function memoryChecks(growths: ReturnType<typeof judgeMemory>): Check[] {
  return (growths ?? []).map(({ part, first, last, peak, isFlat }) => ({
    name: `memory of ${part} is flat`,
    isPassed: isFlat,
    figures: `${first.toFixed(0)} MiB, later ${last.toFixed(0)} MiB; peak ${peak.toFixed(0)} MiB`,
  }));
}

/** The table of figures and the closing line; the exit code. */
export function report(figures: readonly (readonly [string, string])[], checks: Check[]): number {
  const rows = [
    ...figures.map(([name, text]) => [name, text, '']),
    ...checks.map(({ name, figures: text, isPassed }) => [name, text, isPassed ? 'ok' : 'FAILED']),
  ];
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) {
    const line = row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
    process.stdout.write(`${line.trimEnd()}\n`);
  }
  const failed = checks.filter(({ isPassed }) => !isPassed).length;
  process.stdout.write(`${checks.length - failed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}
