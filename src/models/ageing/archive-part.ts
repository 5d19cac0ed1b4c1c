import type { Knex } from 'knex';
import type { ArchivedKind } from '../../messages/ageing/usage-archive.js';
import { sqlRows } from '../db/sql-rows.js';
import { partColumns, type ArchivePart } from './usage-archive.js';

/** A file with the month that it is of. */
export interface MonthPart extends ArchivePart {
  readonly month: string;
}

/** The files of dropped months that may have rows between two ids, both inclusive. */
export function listPartsWith(
  db: Knex,
  tenantId: string,
  kind: ArchivedKind,
  ranges: readonly { readonly from: string; readonly to: string }[],
): Promise<MonthPart[]> {
  return sqlRows<MonthPart>(
    db,
    `select ${partColumns}, to_char(month, 'YYYY-MM') as month from usage_archive
     where tenant_id = ? and kind = ?
       and exists (
         select from usage_archive_month as known
         where known.tenant_id = usage_archive.tenant_id and known.month = usage_archive.month
           and known.dropped_at is not null
       )
       and exists (
         select from unnest(?::uuid[], ?::uuid[]) as asked (from_id, to_id)
         where first_id <= to_id and last_id >= from_id
       )
     order by usage_archive.month, last_id`,
    [tenantId, kind, ranges.map(({ from }) => from), ranges.map(({ to }) => to)],
  );
}
