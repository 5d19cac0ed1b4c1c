import type { Fared } from './neighbour.js';

/** What the issue demands of a quiet machine. */
const p99Max = 250;
const mebibytesMax = 1024;
/** What a process that merely waits for its turn on a busy machine is given beside. */
const lagFactor = 5;
const ratedMax = 1_000;
const recoveredMax = 10_000;
const faultShareMax = 0.01;

/** How it went while one attack ran. */
export interface Outcome {
  readonly name: string;
  readonly judges: 'all' | 'alive';
  readonly asksForRating: boolean;
  readonly findsNothing: boolean;
  readonly before: Fared;
  readonly during: Fared;
  /** The most that the process held; undefined where it was not the same process any more. */
  readonly mebibytes: number | undefined;
  /** Until the neighbour was served as before; undefined where it was not within a minute. */
  readonly recoveredMs: number | undefined;
  /** What the attacker was answered; 0: nothing came. */
  readonly statuses: ReadonlyMap<number, number>;
  /** What was answered with 500, and how; undefined where nothing was. */
  readonly answered500?: string;
  readonly error?: string;
}

/**
 * What a request of the neighbour may take, a quarter of what it may take until an event is rated: more
 * where the machine itself is late.
 */
export const limitOf = ({ lagMs }: Fared): number => Math.max(p99Max, lagFactor * lagMs);

/** Why an attack counts as having stopped others; none where it did not. */
export function faultsOf(outcome: Outcome): string[] {
  const { judges, asksForRating, findsNothing, during, mebibytes, recoveredMs, statuses, error } =
    outcome;
  const limit = limitOf(during);
  const faults = Object.values(during.faults).reduce((sum, count) => sum + count, 0);
  const isSlow = judges === 'all' ? during.p99 > limit : during.healthMax > 2 * limit;
  const isLost = statuses.size > 0 && [...statuses.keys()].every((each) => [0, 404].includes(each));
  return [
    ...(mebibytes === undefined ? ['the process ended'] : []),
    ...(mebibytes !== undefined && mebibytes > mebibytesMax ? ['memory'] : []),
    ...(isSlow ? ['slow'] : []),
    ...(judges === 'all' && faults > during.requests * faultShareMax ? ['refused'] : []),
    ...(asksForRating && during.ratedMax > 4 * limit ? ['rated too late'] : []),
    ...(recoveredMs === undefined || recoveredMs > recoveredMax ? ['did not recover'] : []),
    // An attack on what is not there shows nothing.
    ...(isLost && !findsNothing && statuses.has(404) ? ['all that it asked for is not there'] : []),
    ...(outcome.answered500 === undefined ? [] : [`answered with 500: ${outcome.answered500}`]),
    ...(error === undefined ? [] : [`the attack itself failed: ${error}`]),
  ];
}

const whole = (value: number): string => (Number.isFinite(value) ? value.toFixed(0) : '-');

const answersOf = (statuses: ReadonlyMap<number, number>): string =>
  [...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status === 0 ? 'none' : status}:${count}`)
    .join(' ');

const columns = [
  'attack',
  'p50 before',
  'p99 before',
  'p50',
  'p99',
  'max',
  'health',
  'flow',
  'rated',
  'lag',
  'disk',
  'MiB',
  'again after',
  'attacker',
  'judged',
] as const;

/** The figures of an attack, in milliseconds and MiB. */
function rowOf(outcome: Outcome): string[] {
  const { name, before, during, mebibytes, recoveredMs, statuses } = outcome;
  const faults = faultsOf(outcome);
  return [
    name,
    ...[before.p50, before.p99, during.p50, during.p99, during.max].map(whole),
    ...[during.healthMax, during.flowMax, during.ratedMax].map(whole),
    ...[during.lagMs, during.diskP99].map(whole),
    mebibytes === undefined ? 'ended' : whole(mebibytes),
    recoveredMs === undefined ? 'never' : `${(recoveredMs / 1000).toFixed(1)} s`,
    answersOf(statuses),
    faults.length === 0 ? 'ok' : `FAILED: ${faults.join(', ')}`,
  ];
}

const isNumber = (column: number): boolean => column > 0 && column < 13;

/** The table of all attacks, with the faults that the neighbour met, and the closing line. */
export function report(outcomes: readonly Outcome[], checks: readonly Check[]): number {
  const rows = [[...columns], ...outcomes.map(rowOf)];
  const widths = columns.map((_name, column) =>
    Math.min(70, Math.max(...rows.map((row) => row[column]?.length ?? 0))),
  );
  for (const row of rows) {
    const cells = row.map((cell, column) =>
      isNumber(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
    );
    process.stdout.write(`${cells.join('  ').trimEnd()}\n`);
  }
  for (const { name, during } of outcomes.filter((one) => faultsOf(one).length > 0)) {
    process.stdout.write(`${name}: longest ${JSON.stringify(during.longest)}\n`);
    for (const [fault, count] of Object.entries(during.faults).slice(0, 5)) {
      process.stdout.write(`${name}: ${count} x ${fault.slice(0, 200)}\n`);
    }
  }
  for (const { name, fault } of checks) {
    process.stdout.write(
      `${fault === undefined ? 'ok' : 'FAILED'}: ${name}${fault === undefined ? '' : `: ${fault}`}\n`,
    );
  }
  const late = outcomes.filter(({ during }) => during.ratedMax > ratedMax).length;
  process.stdout.write(
    `events of the neighbour rated after more than ${ratedMax} ms: ${late} attacks\n`,
  );
  const failed =
    outcomes.filter((one) => faultsOf(one).length > 0).length +
    checks.filter(({ fault }) => fault !== undefined).length;
  const passed = outcomes.length + checks.length - failed;
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

/** Something else that has to hold; `fault` says why it does not. */
export interface Check {
  readonly name: string;
  readonly fault: string | undefined;
}

/** The outcome as one line of JSON has it. */
export const toJson = (outcome: Outcome): object => ({
  ...outcome,
  statuses: Object.fromEntries(outcome.statuses),
  faults: faultsOf(outcome),
});

const since = Date.now();

/** A line of its own, with the time since the start. */
export function tell(text: string): void {
  const seconds = ((Date.now() - since) / 1000).toFixed(0).padStart(4);
  process.stderr.write(`hostile ${seconds} s: ${text}\n`);
}
