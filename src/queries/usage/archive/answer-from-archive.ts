import type { Knex } from 'knex';
import { within, type Scope } from '../../../kernel/scope.js';
import type {
  ArchivedKind,
  ArchiveFiles,
  HavingValues,
} from '../../../messages/ageing/usage-archive.js';
import { listPartsWith, type MonthPart } from '../../../models/ageing/archive-part.js';
import { withArchivedRows, type RowsOfMonth } from '../../../models/ageing/archived-rows.js';
import {
  inArchive,
  listDroppedMonths,
  listDroppedMonthsOf,
  listUsageOf,
  mayBeDropped,
  monthsOfIds,
  type DroppedMonth,
} from '../../../models/usage/finding/dropped-month.js';
import { timeOfId } from '../../../models/usage/finding/usage-partition.js';

/** Files that one answer reads, some megabytes each: a page of a list may lie in as many. */
const filesMax = 24;

/** Between which ids the charges of an event lie: their number is in the fourth group (0040). */
const lastChargeOf = (eventId: string): string => `${eventId.slice(0, 19)}bfff${eventId.slice(23)}`;

/** The event of a charge; what is no id of a charge names no event. */
export const eventOfCharge = (chargeId: string): string =>
  `${chargeId.slice(0, 19)}8000${chargeId.slice(23)}`.toLowerCase();

interface NeededRows {
  readonly kind: ArchivedKind;
  readonly parts: readonly MonthPart[];
  readonly having: HavingValues;
}

async function findNeeded(
  db: Knex,
  tenantId: string,
  eventIds: readonly string[],
): Promise<NeededRows[]> {
  const place = (kind: ArchivedKind, column: string) =>
    listPartsWith(
      db,
      tenantId,
      kind,
      eventIds.map((id) => ({ from: id, to: kind === 'usage_event' ? id : lastChargeOf(id) })),
    ).then((parts) => ({ kind, parts, having: { column, values: eventIds } }));
  return Promise.all([place('usage_event', 'id'), place('rated_transaction', 'usage_event_id')]);
}

/**
 * Answers about events of which some may be in the archive alone: their rows, and those of their charges,
 * are put into the database for one transaction, which is rolled back, so that the answer comes from the
 * very statements that answer about all others (docs/decisions/0347). Undefined: none is in the archive.
 * 409: there is no archive here, or they are in too many files.
 */
export async function answerFromArchive<T>(
  scope: Scope,
  files: ArchiveFiles | undefined,
  eventIds: readonly string[],
  answer: (scope: Scope) => Promise<T>,
): Promise<T | undefined> {
  const old = eventIds.filter((id) => mayBeDropped(timeOfId(id), scope.realNow()));
  if (old.length === 0) return undefined;
  const { db, tenantId } = scope;
  const months = monthsOfIds(await listDroppedMonths(db.read, tenantId), old);
  return months.length === 0 ? undefined : answerWith(scope, files, { months, old }, answer);
}

/** Events whose charges one answer about an invoice reads. */
const invoiceEventsMax = 20_000;

/** The same about the usage of an invoice. 409: it is in too many files, or too much. */
export async function answerAboutInvoice<T>(
  scope: Scope,
  files: ArchiveFiles | undefined,
  invoiceId: string,
  answer: (scope: Scope) => Promise<T>,
): Promise<T> {
  const { db, tenantId } = scope;
  const months = await listDroppedMonthsOf(db.read, tenantId, invoiceId);
  if (months.length === 0) return answer(scope);
  const charges = await listUsageOf(db.read, tenantId, invoiceId, invoiceEventsMax + 1);
  if (charges.length > invoiceEventsMax) throw inArchive(months);
  const old = [...new Set(charges.map(eventOfCharge))];
  return answerWith(scope, files, { months, old }, answer);
}

async function answerWith<T>(
  scope: Scope,
  files: ArchiveFiles | undefined,
  { months, old }: { readonly months: readonly DroppedMonth[]; readonly old: readonly string[] },
  answer: (scope: Scope) => Promise<T>,
): Promise<T> {
  const { db, tenantId } = scope;
  const archived = old.filter((id) => monthsOfIds(months, [id]).length > 0);
  const needed = await findNeeded(db.read, tenantId, archived);
  const count = needed.reduce((sum, { parts }) => sum + parts.length, 0);
  if (files === undefined || count > filesMax) throw inArchive(months);
  const rows: RowsOfMonth[] = [];
  for (const { kind, parts, having } of needed) {
    for (const part of parts) {
      const lines = await files.readRows(part, having);
      rows.push({ month: part.month, kind, columns: part.columns, lines });
    }
  }
  return withArchivedRows(db, tenantId, rows, (trx) => answer(within(scope, trx)));
}
