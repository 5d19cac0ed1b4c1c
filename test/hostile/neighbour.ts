import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface NeighbourTask {
  readonly url: string;
  readonly token: string;
  readonly accountId: string;
  readonly accountRef: string;
  readonly serviceId: string;
  /** A folder on the disk of the database. */
  readonly folder: string;
}

/** What the neighbour's process has noted since it was last asked. */
export interface Taken {
  /** Milliseconds of each request, by its kind. */
  readonly millis: Record<string, number[]>;
  /** What was not answered as it should be, and how often. */
  readonly faults: Record<string, number>;
  /** How late timers of the neighbour's own process were, at the 99th percentile. */
  lagMs: number;
  /** Milliseconds until the disk has kept a page, asked ten times a second. */
  readonly diskMs: number[];
}

/** Requests that read or write one thing; those that wait for a workflow are told apart. */
const simple: readonly string[] = ['get', 'service', 'list', 'ingest', 'health'];

/** How the neighbour fared during some seconds. */
export interface Fared {
  readonly requests: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Of `/healthz` over a new connection: whether the process itself responds. */
  readonly healthMax: number;
  readonly flowMax: number;
  readonly ratedMax: number;
  readonly lagMs: number;
  /** Until the disk of the database has kept a page, at the 99th percentile. */
  readonly diskP99: number;
  readonly faults: Readonly<Record<string, number>>;
  /** The longest of each kind of request. */
  readonly longest: Readonly<Record<string, number>>;
}

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;

function fared({ millis, faults, lagMs, diskMs }: Taken): Fared {
  const sorted = (kinds: readonly string[]): number[] =>
    kinds.flatMap((kind) => millis[kind] ?? []).sort((a, b) => a - b);
  const all = sorted(simple);
  return {
    requests: all.length,
    p50: at(all, 0.5),
    p99: at(all, 0.99),
    max: at(all, 1),
    healthMax: at(sorted(['health']), 1),
    flowMax: at(sorted(['flow']), 1),
    ratedMax: at(sorted(['rated']), 1),
    lagMs,
    diskP99: at(
      diskMs.toSorted((a, b) => a - b),
      0.99,
    ),
    faults,
    longest: Object.fromEntries(
      Object.keys(millis).map((kind) => [kind, Math.round(at(sorted([kind]), 1))]),
    ),
  };
}

/** A tenant that sends simple requests all the time. */
export class Neighbour {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(task: NeighbourTask): Promise<Neighbour> {
    const path = join(import.meta.dirname, 'neighbour-process.ts');
    const child = fork(path, { execArgv: ['--import', 'tsx'] });
    await once(child, 'message');
    child.send(task);
    return new Neighbour(child);
  }

  /** Forgets what it has noted. */
  forget(): void {
    this.#child.send('forget');
  }

  /** How it fared since it was last asked. */
  async take(): Promise<Fared> {
    this.#child.send('take');
    const [taken] = (await once(this.#child, 'message')) as [Taken];
    return fared(taken);
  }

  stop(): void {
    this.#child.kill('SIGKILL');
  }
}
