import type { Knex } from 'knex';
import { sqlRows } from '../../db/sql-rows.js';

/** A partition of a table that is divided by the month in which events were received. */
export interface UsagePartition {
  /** The table that it is a part of. */
  readonly parent: string;
  readonly name: string;
  /** It has the events received in [from, to); null: from the beginning on. */
  readonly from: Date | null;
  readonly to: Date;
  /** Whether it has rows, as far as PostgreSQL has counted them. */
  readonly hasRows: boolean;
}

/** The instant that a UUIDv7 begins with, which is that of receipt. */
export const timeOfId = (id: string): Date =>
  new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));

/** The first instant of the month in UTC. */
export const monthOf = (at: Date): Date =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth()));

/** The partitions of usage events and of charges, the oldest of each first. */
export async function listUsagePartitions(db: Knex): Promise<UsagePartition[]> {
  const rows = await sqlRows<{
    parent: string;
    name: string;
    firstId: string | null;
    endId: string;
    hasRows: boolean;
  }>(
    db,
    `select known.parent, known.name, known.first_id as "firstId", known.end_id as "endId",
       part.relpages > 0 or pg_relation_size(part.oid) > 0 as "hasRows"
     from usage_partitions() as known
     join pg_class as part on part.oid = ('public.' || quote_ident(known.name))::regclass
     order by known.parent, known.end_id`,
  );
  return rows.map(({ parent, name, firstId, endId, hasRows }) => ({
    parent,
    name,
    from: firstId === null ? null : timeOfId(firstId),
    to: timeOfId(endId),
    hasRows,
  }));
}

/** Makes the partitions of the months of these instants that are missing; returns how many were. */
export async function makeUsagePartitions(trx: Knex, instants: readonly Date[]): Promise<number> {
  const months = [...new Set(instants.map((at) => monthOf(at).toISOString()))].sort();
  let made = 0;
  for (const month of months) {
    const [row] = await sqlRows<{ made: number }>(
      trx,
      'select make_usage_partitions(?::timestamptz, ?::timestamptz) as made',
      [month, month],
    );
    made += row?.made ?? 0;
  }
  return made;
}

/**
 * Makes the partitions of this month and of the next three, by the clock of the database, which events
 * have their time from.
 */
export async function makePartitionsAhead(platform: Knex): Promise<number> {
  const [row] = await sqlRows<{ made: number }>(
    platform,
    `select make_usage_partitions(now(), now() + interval '3 months') as made`,
  );
  return row?.made ?? 0;
}

/** Gathers once a day, and as they double, what the planner knows of the tables as wholes; true: done now. */
export async function analyzePartitions(platform: Knex): Promise<boolean> {
  const [row] = await sqlRows<{ done: boolean }>(
    platform,
    'select analyze_usage_partitions() as done',
  );
  return row?.done === true;
}

/** What is known of the partitions of a table at an instant. */
export interface PartitionAges {
  /** How many hold rows. */
  readonly filled: number;
  /** Up to when there are partitions without a gap from now on; now: there is none. */
  readonly madeUntil: Date;
  /** The end of the oldest one that holds rows; null: none does. */
  readonly oldestEnd: Date | null;
}

/**
 * With partitions up to November, of November and of January, on the 24th of November partitions are
 * made until the 1st of December.
 */
export function agesOf(partitions: readonly UsagePartition[], now: Date): PartitionAges {
  const inOrder = [...partitions].sort((a, b) => a.to.getTime() - b.to.getTime());
  const filled = inOrder.filter(({ hasRows }) => hasRows);
  let madeUntil = now;
  for (const { from, to } of inOrder) {
    if (to > madeUntil && (from === null || from <= madeUntil)) madeUntil = to;
  }
  return { filled: filled.length, madeUntil, oldestEnd: filled[0]?.to ?? null };
}
