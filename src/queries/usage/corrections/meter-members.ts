import type { Knex } from 'knex';
import { boundsOf } from '../../../kernel/id.js';
import { problem } from '../../../kernel/problem.js';
import { dayBefore } from '../../../kernel/time/date.js';
import { foreverPeriod } from '../../../kernel/time/period.js';
import { arrayLiteral } from '../../../kernel/text/postgres-array.js';
import { amongSql, sqlRows, type SqlValue } from '../../../models/db/sql-rows.js';
import { listRatedIds } from '../../../models/usage/finding/usage-list.js';
import { requireInDatabase } from '../../../models/usage/finding/dropped-month.js';
import { UsageDay } from '../../../models/usage/usage-day.js';
import type { MeteredCounter } from '../../../models/usage/corrections/metered-counter.js';

/** Whose usage of what has its counters together: of the account itself, and of its contracts' lines. */
export interface MeterOwner {
  readonly accountId: string;
  readonly serviceId: string;
}

/**
 * Events of an account that are rated again at once: their ids are held in memory, and their places come as
 * one text, of which JavaScript takes half a billion characters.
 */
const membersMax = 2_000_000;

/** The ids of the rated events of an account between two ids, in no order. 409: there are too many. */
export async function listMembers(
  db: Knex,
  tenantId: string,
  accountId: string,
  range: { readonly first: string; readonly last: string },
): Promise<readonly string[]> {
  const listed = await listRatedIds(db, tenantId, accountId, range, membersMax + 1);
  if (listed.length <= membersMax) return listed;
  throw problem.conflict(
    `The account has more than ${membersMax} events in this time, or in the periods of the counters: so many cannot be rated again at once.`,
  );
}

/**
 * The rated events that may have moved these counters, and those that are rated otherwise, in the
 * order of the log: that of the partition, or where they are of several, by time of receipt,
 * partition and offset.
 */
export async function findMembers(
  db: Knex,
  tenantId: string,
  { owner, targets }: { readonly owner: MeterOwner; readonly targets: readonly PlacedEvent[] },
  counters: readonly MeteredCounter[],
): Promise<readonly PlacedEvent[]> {
  const starts = counters.map(({ key }) => key.periodStart).sort();
  const ends = counters.map(({ key }) => key.periodEnd).sort();
  const [from = foreverPeriod.start] = starts;
  const until = ends.at(-1) ?? foreverPeriod.end;
  const range = await UsageDay.idRange(db, tenantId, ['rated'], {
    from: from === foreverPeriod.start ? undefined : from,
    last: until === foreverPeriod.end ? undefined : dayBefore(until),
  });
  const listed = range ? await listMembers(db, tenantId, owner.accountId, range) : [];
  const known = new Set(targets.map(({ id }) => id));
  const others = listed.filter((id) => !known.has(id));
  await requireInDatabase(db, tenantId, [...known, ...others]);
  const found = await inOrder(db, tenantId, ofService(owner.serviceId), others);
  const arePlaced = targets.every(({ offset }) => offset !== undefined);
  if (found.length === 0 && arePlaced) return targets;
  return inOrder(db, tenantId, anyOf, [...known, ...found.map(({ id }) => id)]);
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
  /** Whether it has the message that stands at its place in the log. */
  readonly isAsSent?: boolean;
}

export const placeColumns = `id, partition, "offset"::float8 as "offset",
  to_char(received_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') as "receivedAt"`;

/** Which of the events are meant, as SQL with its bindings. */
interface Condition {
  readonly sql: string;
  readonly bindings: Readonly<Record<string, SqlValue>>;
}

const anyOf: Condition = { sql: 'true', bindings: {} };

const ofService = (serviceId: string): Condition => ({
  sql: 'service_id = :serviceId::uuid',
  bindings: { serviceId },
});

/**
 * Those of the events that are meant, in the order of the log. In a partition the offset says it: times
 * of receipt may be those of producers.
 */
export async function inOrder(
  db: Knex,
  tenantId: string,
  { sql, bindings }: Condition,
  ids: readonly string[],
): Promise<PlacedEvent[]> {
  if (ids.length === 0) return [];
  // As one text, since there may be many: it is cheaper than as many rows.
  const [row] = await sqlRows<{ placed: string | null }>(
    db,
    `select string_agg(
       concat(id, ' ', partition, ' ', "offset", ' ', "receivedAt", ' ', "isAsSent"), ','
       order by case when is_of_one then null else received_at end, partition, "offset"
     ) as placed
     from (
       select ${placeColumns}, received_at, min(partition) over () = max(partition) over () as is_of_one,
         message is null and id not in (
           select event_id from usage_event_change where tenant_id = :tenantId and message is not null
         ) as "isAsSent"
       from usage_event
       where tenant_id = :tenantId and ${amongSql('id')} and ${sql}
     ) as placed`,
    { ...bindings, tenantId, ids: arrayLiteral(ids), ...boundsOf(ids) },
  );
  return row?.placed?.split(',').map(readPlaced) ?? [];
}

function readPlaced(text: string): PlacedEvent {
  const [id = '', partition, offset, receivedAt = '', isAsSent] = text.split(' ');
  return {
    id,
    partition: Number(partition),
    offset: Number(offset),
    receivedAt,
    isAsSent: isAsSent === 't',
  };
}
