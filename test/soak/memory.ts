import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { median } from '../../bench/load.js';
import type { KillableProduct } from '../start/killable.js';

const parts = ['product', 'postgres', 'temporal'] as const;
export type Part = (typeof parts)[number];

/** Mebibytes that the processes of each part hold, and whether all has run for a while. */
export interface Sample {
  readonly atMs: number;
  readonly isSettled: boolean;
  readonly mebibytes: Readonly<Record<Part, number>>;
}

/**
 * A process that was just started grows into its caches, compiled code and connections: what it holds in
 * its first seconds says nothing about what it comes to hold.
 */
const startMs = 20_000;

/**
 * Flat: the median of the last third of the samples is at most a quarter and 64 MiB above the median
 * of the first third. A garbage-collected heap moves by that much under an even load; a leak of one KB
 * an event would be ten times as much after a million events.
 */
const growthMax = 1.25;
const growthMebibytesMax = 64;
const samplesMin = 6;

/** What `docs/operations.md` gives a process of the product. */
export const productMebibytesMax = 1024;

interface Listed {
  readonly pid: number;
  readonly parent: number;
}

/** All processes with their parents. */
function listProcesses(): Listed[] {
  if (process.platform !== 'linux') {
    const text = execFileSync('ps', ['-axo', 'pid=,ppid='], { encoding: 'utf8' });
    return text.split('\n').map((line) => {
      const [pid = 0, parent = 0] = line.trim().split(/\s+/).map(Number);
      return { pid, parent };
    });
  }
  return readdirSync('/proc').flatMap((name) => {
    const text = /^\d+$/.test(name) ? readIfThere(`/proc/${name}/stat`) : '';
    // The name of the program, in parentheses, may hold spaces.
    const parent = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .at(1);
    return parent === undefined ? [] : [{ pid: Number(name), parent: Number(parent) }];
  });
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/**
 * Resident memory of a process. What several share, as the backends of PostgreSQL do, is divided among
 * them where the system tells (Pss), so that the sum is what the machine gives.
 */
function kibibytesOf(pid: number): number {
  if (process.platform !== 'linux') {
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }));
  }
  const text = readIfThere(`/proc/${pid}/smaps_rollup`);
  return Number(/^Pss: +(\d+) kB$/m.exec(text)?.[1] ?? 0);
}

/** Those and what descends from them, without the other parts, which the product has started. */
function withDescendants(
  roots: readonly number[],
  others: readonly number[],
  all: readonly Listed[],
): number[] {
  const found = [...roots];
  for (let index = 0; index < found.length; index += 1) {
    for (const { pid, parent } of all) {
      if (parent === found[index] && !others.includes(pid)) found.push(pid);
    }
  }
  return found;
}

/** What the processes of each part hold now, in MiB; 0 for one that does not run. */
async function readMemory(product: KillableProduct): Promise<Record<Part, number>> {
  const roots = await product.processes();
  const all = listProcesses();
  const held = (part: Part): number => {
    const others = parts.flatMap((other) => (other === part ? [] : roots[other]));
    const pids = withDescendants(roots[part], others, all);
    return pids.reduce((sum, pid) => sum + kibibytesOf(pid), 0) / 1024;
  };
  return { product: held('product'), postgres: held('postgres'), temporal: held('temporal') };
}

/** Samples memory every so often, and knows since when everything runs. */
export class MemoryWatch {
  readonly samples: Sample[] = [];
  readonly #product: KillableProduct;
  readonly #timer: NodeJS.Timeout;
  #upSince = 0;

  constructor(product: KillableProduct, everyMs: number) {
    this.#product = product;
    this.#timer = setInterval(() => void this.#take(), everyMs);
  }

  /** Something was killed: what is sampled until everything has run for a while is not judged. */
  readonly restart = (): void => {
    this.#upSince = Infinity;
  };

  readonly up = (): void => {
    this.#upSince = Date.now();
  };

  async #take(): Promise<void> {
    const mebibytes = await readMemory(this.#product);
    const isSettled = Date.now() - this.#upSince > startMs;
    this.samples.push({ atMs: Date.now(), isSettled, mebibytes });
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

interface Growth {
  readonly part: Part;
  readonly first: number;
  readonly last: number;
  readonly peak: number;
  readonly isFlat: boolean;
}

/** How the memory of each part went; undefined when there are too few samples to say. */
export function judgeMemory(samples: readonly Sample[]): Growth[] | undefined {
  const settled = samples.filter(({ isSettled }) => isSettled);
  if (settled.length < samplesMin) return undefined;
  const third = Math.floor(settled.length / 3);
  return parts.map((part) => {
    const of = (some: readonly Sample[]) => some.map(({ mebibytes }) => mebibytes[part]);
    const first = median(of(settled.slice(0, third)));
    const last = median(of(settled.slice(-third)));
    const isFlat = last <= first * growthMax + growthMebibytesMax;
    return { part, first, last, peak: Math.max(...of(samples)), isFlat };
  });
}
