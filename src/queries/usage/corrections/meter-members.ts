import type { Knex } from 'knex';
import { problem } from '../../../kernel/problem.js';
import { dayBefore } from '../../../kernel/time/date.js';
import { foreverPeriod } from '../../../kernel/time/period.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import { listRatedIds } from '../../../models/usage/finding/usage-list.js';
import { requireInDatabase } from '../../../models/usage/finding/dropped-month.js';
import { UsageDay } from '../../../models/usage/usage-day.js';
import type { MeteredCounter } from '../../../models/usage/corrections/metered-counter.js';

/** Whose usage of what has its counters together: of the account itself, and of its contracts' lines. */
export interface MeterOwner {
  readonly accountId: string;
  readonly serviceId: string;
}

/** Events that one correction looks at: their ids are held in memory. */
export const membersMax = 2_000_000;

/**
 * The rated events that may have moved these counters, and those that are rated otherwise, in the
 * order of the log: that of the partition, or where they are of several, by time of receipt,
 * partition and offset.
 */
export async function findMembers(
  db: Knex,
  tenantId: string,
  { owner, targets }: { readonly owner: MeterOwner; readonly targets: readonly string[] },
  counters: readonly MeteredCounter[],
): Promise<PlacedEvent[]> {
  const starts = counters.map(({ key }) => key.periodStart).sort();
  const ends = counters.map(({ key }) => key.periodEnd).sort();
  const [from = foreverPeriod.start] = starts;
  const until = ends.at(-1) ?? foreverPeriod.end;
  const range = await UsageDay.idRange(db, tenantId, ['rated'], {
    from: from === foreverPeriod.start ? undefined : from,
    last: until === foreverPeriod.end ? undefined : dayBefore(until),
  });
  const listed = range ? await listRatedIds(db, tenantId, owner.accountId, range) : [];
  if (listed.length > membersMax) {
    throw problem.conflict(
      `The account has ${listed.length} events in the periods of these counters; at most ${membersMax} can be rated again at once.`,
    );
  }
  const ids = [...new Set([...listed, ...targets])];
  await requireInDatabase(db, tenantId, ids);
  return inOrder(db, tenantId, owner.serviceId, ids, targets);
}

/** An event with its place in the log, where it is known. */
export interface PlacedEvent {
  readonly id: string;
  readonly partition?: number;
  readonly offset?: number;
  /** As text that is in the order of time. */
  readonly receivedAt?: string;
  readonly accountId?: string;
  readonly serviceId?: string;
}

export const placeColumns = `id, partition, "offset"::float8 as "offset",
  to_char(received_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') as "receivedAt"`;

/** Those of the service, and the targets, in the order of the log. */
export async function inOrder(
  db: Knex,
  tenantId: string,
  serviceId: string,
  ids: readonly string[],
  targets: readonly string[],
): Promise<PlacedEvent[]> {
  const read = (order: string) =>
    sqlRows<PlacedEvent>(
      db,
      `select ${placeColumns} from usage_event
       where tenant_id = :tenantId and id = any(:ids::uuid[])
         and (service_id = :serviceId::uuid or id = any(:targets::uuid[])) order by ${order}`,
      { tenantId, serviceId, ids, targets },
    );
  const rows = await read('received_at, partition, "offset"');
  const isOfOne = rows.every(({ partition }) => partition === rows[0]?.partition);
  // In a partition the offset says it: times of receipt may be those of producers.
  return isOfOne ? read('"offset"') : rows;
}
