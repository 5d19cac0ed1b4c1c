import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';

/** A row of DESIGN.md section 8: what was measured, its floor, and whether the aim was reached. */
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
}

const figure = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2);

/** Prints the rows as a table. */
export function printRows(rows: readonly BenchRow[]): void {
  const head = ['row', 'measured', 'floor', 'ratio', 'aim', ''];
  const cells = rows.map((row) => [
    row.id,
    `${figure(row.value)} ${row.unit}`,
    `${figure(row.floorValue)} ${row.floor}`,
    row.ratio.toFixed(2),
    row.aim,
    row.isReached ? 'reached' : 'MISSED',
  ]);
  const widths = head.map((title, column) =>
    Math.max(title.length, ...cells.map((line) => line[column]?.length ?? 0)),
  );
  for (const line of [head, ...cells]) {
    process.stdout.write(
      `${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}\n`,
    );
  }
}

/** Writes the rows as JSON, with what they were measured on. */
export async function writeRows(path: string, rows: readonly BenchRow[]): Promise<void> {
  const machine = {
    cpus: cpus().length,
    model: cpus()[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  };
  await mkdir('bench', { recursive: true });
  const document = { measuredAt: new Date().toISOString(), machine, rows };
  await writeFile(path, `${JSON.stringify(document, null, 2)}\n`);
}
