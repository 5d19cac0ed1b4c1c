import type pg from 'pg';
import { countKeys, passChanges, readChanges, type RowKeys } from './changed-rows.js';
import {
  requireSame,
  sumAll,
  sumNamed,
  withoutSums,
  type RowSums,
  type Sides,
} from './compare-rows.js';
import { raiseSequences, readSequences, type MovedTable } from './moved-tables.js';
import { catchUp, changesSlotName, dropSlot, makeSlot, writeMark } from './replication.js';

/** A tenant whose copy is compared while it is used. */
export interface Copy extends Sides {
  /** Another connection to the source, for what is written and read beside its snapshot. */
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
/** How long the target has for what was written before, while the tenant is used and while it waits. */
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

/** What has changed until now, also what was committed without waiting for the disk. */
async function changesUntilNow({ recorder, tenantId, tables }: Copy, after?: bigint) {
  await writeMark(recorder, tenantId);
  return readChanges(recorder, { tenantId, tables }, after);
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
async function compareTables(
  copy: Copy,
  tables: readonly MovedTable[],
): Promise<readonly MovedTable[]> {
  const { tenantId } = copy;
  return inSnapshots(copy, async () => {
    const begun = performance.now();
    const sums = new Map<MovedTable, RowSums>();
    for (const table of tables) {
      if (performance.now() - begun > snapshotMs) break;
      sums.set(table, await sumAll(copy, table, tenantId));
    }
    const { keys } = await changesUntilNow(copy);
    for (const [table, all] of sums) {
      sums.set(table, withoutSums(all, await sumNamed(copy, table, { tenantId, keys })));
    }
    requireSame(sums);
    return tables.slice(sums.size);
  });
}

/** Compares what has changed, until only a few rows are left that changed meanwhile. */
export async function compareChanges(copy: Copy): Promise<void> {
  const { recorder, tenantId } = copy;
  for (let round = 0; round < roundsMax; round += 1) {
    const { keys, until } = await changesUntilNow(copy);
    if (until === null || countKeys(keys) <= fewRows) return;
    await inSnapshots(copy, async () => {
      const later = await changesUntilNow(copy, until);
      await compareKeys(copy, keys, later.keys);
    });
    await passChanges(recorder, tenantId, until);
  }
}

/**
 * Compares all rows while the tenant is used. Rows that change after they were compared are those that
 * are left in the slot of changes; throws where others differ.
 */
export async function compareCopy(copy: Copy): Promise<void> {
  const { recorder, tenantId } = copy;
  await dropSlot(recorder, changesSlotName(tenantId));
  await makeSlot(recorder, changesSlotName(tenantId), tenantId);
  for (let left = copy.tables; left.length > 0;) {
    left = await compareTables(copy, left);
    await compareChanges(copy);
  }
}

/** Compares what is left, where nothing changes any more. */
export async function compareLast(copy: Copy): Promise<void> {
  const { source, target, tenantId } = copy;
  await catchUp(source, target, { tenantId, withinMs: pauseLagMs });
  await raiseSequences(target, await readSequences(source));
  const { keys } = await readChanges(source, copy);
  await compareKeys(copy, keys);
}
