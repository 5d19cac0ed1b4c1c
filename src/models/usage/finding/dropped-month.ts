import type { Knex } from 'knex';
import { problem, type Problem } from '../../../kernel/problem.js';
import { sqlRows } from '../../db/sql-rows.js';
import type { PlaceRange } from './usage-place.js';

/** A month of a tenant whose rows are in the archive alone (docs/decisions/0346). */
export interface DroppedMonth {
  readonly month: string;
  /** The ids of its events and charges, `[firstId, endId)`. */
  readonly firstId: string;
  readonly endId: string;
  /** When its usage occurred, both inclusive; null: it has none. */
  readonly firstAt: Date | null;
  readonly lastAt: Date | null;
  /** The days of its charges, both inclusive. */
  readonly firstDay: string | null;
  readonly lastDay: string | null;
}

const monthsSql = `
  select to_char(month, 'YYYY-MM') as month,
       uuid_at(month::timestamp at time zone 'UTC')::text as "firstId",
       uuid_at((month + interval '1 month') at time zone 'UTC')::text as "endId",
       first_at as "firstAt", last_at as "lastAt", first_day::text as "firstDay",
       last_day::text as "lastDay"
     from usage_archive_month where tenant_id = :tenantId and dropped_at is not null`;

/** The dropped months of a tenant, the oldest first. */
export const listDroppedMonths = (db: Knex, tenantId: string): Promise<DroppedMonth[]> =>
  sqlRows(db, `${monthsSql} order by usage_archive_month.month`, { tenantId });

/** Those that have usage of an invoice. */
export const listDroppedMonthsOf = (
  db: Knex,
  tenantId: string,
  invoiceId: string,
): Promise<DroppedMonth[]> =>
  sqlRows(
    db,
    `${monthsSql} and exists (
       select from invoice_usage as usage cross join unnest(transaction_ids) as each (id)
       where usage.tenant_id = :tenantId and usage.invoice_id = :invoiceId
         and each.id >= uuid_at(month::timestamp at time zone 'UTC')
         and each.id < uuid_at((month + interval '1 month') at time zone 'UTC')
     ) order by usage_archive_month.month`,
    { tenantId, invoiceId },
  );

/** The charges of an invoice, as many as are asked for. */
export async function listUsageOf(
  db: Knex,
  tenantId: string,
  invoiceId: string,
  limit: number,
): Promise<string[]> {
  const rows = await sqlRows<{ id: string }>(
    db,
    `select distinct each.id from invoice_usage as usage cross join unnest(transaction_ids) as each (id)
     where usage.tenant_id = ? and usage.invoice_id = ? limit ?`,
    [tenantId, invoiceId, limit],
  );
  return rows.map(({ id }) => id);
}

/** 409: what was asked for needs rows that are in the archive alone. */
export function inArchive(months: readonly DroppedMonth[]): Problem {
  const names = months.map(({ month }) => month);
  return problem.conflict(
    `Usage that was received in ${names.slice(0, 12).join(', ')} is in the archive, and this needs it in the database: have the operator run 'durabill archive restore', or ask for a range without it.`,
    { reason: 'USAGE_ARCHIVED', months: names },
  );
}

/** The dropped months that have one of these ids. */
export const monthsOfIds = (
  months: readonly DroppedMonth[],
  ids: readonly string[],
): readonly DroppedMonth[] =>
  months.filter(({ firstId, endId }) => ids.some((id) => id >= firstId && id < endId));

/** Those whose usage may have occurred in a range of time, `[from, to)`; null: open. */
export const monthsOfTimes = (
  months: readonly DroppedMonth[],
  { from, to }: { readonly from: string | null; readonly to: string | null },
): readonly DroppedMonth[] =>
  months.filter(
    ({ firstAt, lastAt }) =>
      firstAt !== null &&
      lastAt !== null &&
      (from === null || lastAt.getTime() >= Date.parse(from)) &&
      (to === null || firstAt.getTime() < Date.parse(to)),
  );

/** Those that have charges of these days, both inclusive; undefined: open. */
export const monthsOfDays = (
  months: readonly DroppedMonth[],
  { from, last }: { readonly from?: string | undefined; readonly last?: string | undefined },
): readonly DroppedMonth[] =>
  months.filter(
    ({ firstDay, lastDay }) =>
      firstDay !== null &&
      lastDay !== null &&
      (from === undefined || lastDay >= from) &&
      (last === undefined || firstDay <= last),
  );

/** 409 where one of the months is needed. */
export function refuseArchived(months: readonly DroppedMonth[]): void {
  if (months.length > 0) throw inArchive(months);
}

/** 409 where one of these events or charges is in the archive alone. */
export async function requireInDatabase(
  db: Knex,
  tenantId: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const months = await listDroppedMonths(db, tenantId);
  if (months.length > 0) refuseArchived(monthsOfIds(months, ids));
}

/** 409 where something of these months was corrected within a range of time. */
export async function refuseCorrected(
  db: Knex,
  tenantId: string,
  months: readonly DroppedMonth[],
  { from, to }: { readonly from: string | undefined; readonly to: string | undefined },
): Promise<void> {
  for (const month of months) {
    const [row] = await sqlRows<{ isCorrected: boolean }>(
      db,
      `select exists (
         select from usage_correction as t join usage_correction_charge as pair
           on pair.tenant_id = t.tenant_id and pair.correction_id = t.id
         where t.tenant_id = ? and pair.event_id >= ?::uuid and pair.event_id < ?::uuid
           and t.created_at >= coalesce(?::timestamptz, '-infinity')
           and t.created_at < coalesce(?::timestamptz, 'infinity')
       ) as "isCorrected"`,
      [tenantId, month.firstId, month.endId, from ?? null, to ?? null],
    );
    if (row?.isCorrected === true) throw inArchive([month]);
  }
}

/** 409 where events at these places of the log are in the archive alone. */
export async function requireRangesInDatabase(
  db: Knex,
  tenantId: string,
  ranges: readonly PlaceRange[],
): Promise<void> {
  const months = await listDroppedMonths(db, tenantId);
  if (months.length === 0) return;
  const rows = await sqlRows<{ firstId: string; lastId: string }>(
    db,
    `select min(first_id::text) as "firstId", max(last_id::text) as "lastId"
     from unnest(?::integer[], ?::bigint[], ?::bigint[]) as sent (at_partition, at_from, at_to)
     join usage_range as known on known.tenant_id = ? and known.partition = sent.at_partition
       and known.first_offset < sent.at_to and known.end_offset > sent.at_from
     group by sent.at_partition, sent.at_from`,
    [
      ranges.map(({ partition }) => partition),
      ranges.map(({ from }) => from),
      ranges.map(({ to }) => to),
      tenantId,
    ],
  );
  refuseArchived(
    months.filter(({ firstId, endId }) =>
      rows.some((range) => range.lastId >= firstId && range.firstId < endId),
    ),
  );
}

const dayMs = 86_400_000;

/** Whether an event of this id may have left the database: no month does that is not over for a day. */
export const mayBeDropped = (receivedAt: Date, now: Date): boolean =>
  now.getTime() - receivedAt.getTime() > dayMs;
