import { readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { drawChart } from './chart.js';

/** A row of the benchmark: what was measured, its floor, and whether the aim was reached. */
export interface BenchRow {
  readonly id: string;
  readonly measure: string;
  readonly value: number;
  readonly unit: string;
  readonly floor: string;
  readonly floorValue: number;
  /** value ÷ floorValue. */
  readonly ratio: number;
  readonly aim: string;
  readonly isReached: boolean;
  /** Why it could not be measured. */
  readonly failure?: string;
  /** Rated transactions of the tenant, where the row brings its own. */
  readonly transactions?: number;
}

/** A row as it is kept: at what size and when it was measured. */
export interface KeptRow extends BenchRow {
  readonly transactions: number;
  readonly measuredAt: string;
}

const resultsPath = 'bench/results.json';
const chartPath = 'docs/bench.svg';

const figure = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2);

const cellsOf = (row: BenchRow): string[] => [
  row.id,
  ...(row.failure === undefined
    ? [
        `${figure(row.value)} ${row.unit}`,
        `${figure(row.floorValue)} ${row.floor}`,
        row.ratio.toFixed(2),
        row.aim,
        row.isReached ? 'reached' : 'MISSED',
      ]
    : ['', '', '', '', `FAILED: ${row.failure}`]),
];

/** One line of a row, without the width of a table: `read (page): 1.20 ms, 1.00 ms floor, 1.20, <= 2, reached`. */
export function rowInWords(row: BenchRow): string {
  const [id, ...cells] = cellsOf(row);
  return `${id}: ${cells.filter((cell) => cell !== '').join(', ')}`;
}

/** Prints the rows as a table. */
export function printRows(rows: readonly BenchRow[]): void {
  const head = ['row', 'measured', 'floor', 'ratio', 'aim', ''];
  const cells = rows.map(cellsOf);
  const widths = head.map((title, column) =>
    Math.max(title.length, ...cells.map((line) => line[column]?.length ?? 0)),
  );
  for (const line of [head, ...cells]) {
    process.stdout.write(
      `${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}\n`,
    );
  }
}

const placeOf = ({ id, transactions }: KeptRow): string => `${id} ${transactions}`;

/**
 * Keeps the rows that were measured in the place of those before, with the machine, and draws all.
 */
export async function keepRows(rows: readonly BenchRow[], transactions: number): Promise<void> {
  const measuredAt = new Date().toISOString();
  const kept = JSON.parse(await readFile(resultsPath, 'utf8')) as { rows: KeptRow[] };
  const all = new Map(kept.rows.map((row) => [placeOf(row), row]));
  for (const row of rows.filter(({ failure }) => failure === undefined)) {
    const now = { transactions, ...row, measuredAt };
    all.set(placeOf(now), now);
  }
  const machine = {
    cpus: cpus().length,
    model: cpus()[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  };
  const document = { machine, rows: [...all.values()] };
  await writeFile(resultsPath, `${JSON.stringify(document, null, 2)}\n`);
  await writeFile(chartPath, drawChart(document.rows));
}
