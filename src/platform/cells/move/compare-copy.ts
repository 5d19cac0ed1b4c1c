import type pg from 'pg';
import { ChangeStream, countKeys, type Heard, type RowKeys } from './change-stream.js';
import {
  requireSame,
  RowsDifferError,
  sumAll,
  sumNamed,
  withoutSums,
  type RowSums,
  type Sides,
} from './compare-rows.js';
import { raiseSequences, readSequences, type MovedTable } from './moved-tables.js';
import { beginRecord, catchUp, endRecord, writeMark } from './replication.js';

/** A tenant whose copy is compared while it is used. */
export interface Copy extends Sides {
  readonly sourceUrl: string;
  /** Another connection to the source, for what is written beside its snapshot. */
  readonly recorder: pg.Client;
  readonly tenantId: string;
  readonly tables: readonly MovedTable[];
}

/** Tables are compared in one snapshot for so long, or for as long as one of them takes. */
const snapshotMs = 5_000;
/** So few rows are compared again while the tenant waits. */
const fewRows = 5_000;
/** How often what has changed is compared before that. */
const roundsMax = 20;
/** How long what was written before may take to arrive, while the tenant is used and while it waits. */
const lagMs = 60_000;
const pauseLagMs = 5_000;

/** Works in a snapshot of either side that has all that was written until now. */
async function inSnapshots<T>(
  { source, target, recorder, tenantId }: Copy,
  work: () => Promise<T>,
): Promise<T> {
  await catchUp(recorder, target, { tenantId, withinMs: lagMs });
  const clients = [source, target];
  try {
    for (const client of clients) {
      await client.query('begin isolation level repeatable read read only');
      await client.query('select 1');
    }
    return await work();
  } finally {
    await Promise.allSettled(clients.map((client) => client.query('rollback')));
  }
}

/**
 * What differs is looked at once more: the target may have a row already whose transaction the source
 * does not show yet.
 */
async function twice<T>(compare: () => Promise<T>): Promise<T> {
  try {
    return await compare();
  } catch (error) {
    if (!(error instanceof RowsDifferError)) throw error;
    return compare();
  }
}

/** The keys of what has changed until now and was not taken. */
async function changesUntilNow(copy: Copy, stream: ChangeStream): Promise<RowKeys> {
  return stream.upTo(await writeMark(copy.recorder, copy.tenantId), lagMs);
}

/** Throws where rows with these keys are not the same on both sides; those of `except` may differ. */
async function compareKeys(copy: Copy, keys: RowKeys, except?: RowKeys): Promise<void> {
  const sums = new Map<MovedTable, RowSums>();
  for (const table of copy.tables) {
    if (!keys.has(table.name)) continue;
    sums.set(table, await sumNamed(copy, table, { tenantId: copy.tenantId, keys, except }));
  }
  requireSame(sums);
}

/**
 * Compares some of these tables, and returns those that are left. What changes meanwhile is not
 * compared: the sums are without it, in the same snapshots.
 */
const compareTables = (
  copy: Copy,
  stream: ChangeStream,
  tables: readonly MovedTable[],
): Promise<readonly MovedTable[]> =>
  inSnapshots(copy, async () => {
    const { tenantId } = copy;
    const begun = performance.now();
    const sums = new Map<MovedTable, RowSums>();
    for (const table of tables) {
      if (performance.now() - begun > snapshotMs) break;
      sums.set(table, await sumAll(copy, table, tenantId));
    }
    const keys = await changesUntilNow(copy, stream);
    for (const [table, all] of sums) {
      sums.set(table, withoutSums(all, await sumNamed(copy, table, { tenantId, keys })));
    }
    requireSame(sums);
    return tables.slice(sums.size);
  });

/** Compares what was heard, but for what has changed again. */
const compareHeard = (copy: Copy, stream: ChangeStream, { keys }: Heard): Promise<void> =>
  inSnapshots(copy, async () => compareKeys(copy, keys, await changesUntilNow(copy, stream)));

/** Compares what has changed, until only a few rows are left that changed meanwhile; false: many are. */
export async function compareChanges(copy: Copy, stream: ChangeStream): Promise<boolean> {
  for (let round = 0; round < roundsMax; round += 1) {
    await changesUntilNow(copy, stream);
    const heard = stream.take();
    await twice(() => compareHeard(copy, stream, heard));
    await stream.confirm(heard);
    // About as many have changed meanwhile.
    if (countKeys(heard.keys) <= fewRows) return true;
  }
  return false;
}

/** Hears the changes of the source while it works; `isCompared`: only where all else has been compared. */
export async function withChanges<T>(
  copy: Copy,
  isCompared: boolean,
  work: (stream: ChangeStream) => Promise<T>,
): Promise<T> {
  const stream = await ChangeStream.open(copy, isCompared);
  try {
    return await work(stream);
  } finally {
    await stream.close();
  }
}

/**
 * Compares all rows while the tenant is used. Those that change after they were compared are told again
 * by the next stream of changes; throws where others differ.
 */
export async function compareCopy(copy: Copy): Promise<void> {
  const { recorder, tenantId, tables } = copy;
  await beginRecord(recorder, tenantId, tables);
  await withChanges(copy, false, async (stream) => {
    for (let left = tables; left.length > 0;) {
      const from = left;
      left = await twice(() => compareTables(copy, stream, from));
      await compareChanges(copy, stream);
    }
  });
  await endRecord(recorder, tenantId);
}

/** Compares what is left, where nothing changes any more. */
export async function compareLast(copy: Copy, stream: ChangeStream): Promise<void> {
  const { source, target, tenantId } = copy;
  const mark = await catchUp(source, target, { tenantId, withinMs: pauseLagMs });
  await raiseSequences(target, await readSequences(source));
  await compareKeys(copy, await stream.upTo(mark, pauseLagMs));
}
