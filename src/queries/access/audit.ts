import type { Static } from 'typebox';
import { asWritten } from '../../kernel/text/json.js';
import type { Scope } from '../../kernel/scope.js';
import { mapInPortions } from '../../kernel/portions.js';
import { camelCase } from '../../models/db/read-records.js';
import { AuditEntry, auditStateSql } from '../../models/access/audit-entry.js';
import type { TenantQueryBuilder } from '../../models/db/tenant-model.js';
import type * as schema from '../../schemas/access/audit.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import { readHeavyPage, type RowWeight } from '../lists/listing.js';
import { storedWeight } from '../lists/page-bytes.js';
import { readTimeRange } from '../lists/time-range.js';

type AuditEntryDto = Static<typeof schema.AuditEntry>;

export interface AuditFilter {
  readonly entity: string | undefined;
  readonly id: string | undefined;
  readonly actor: string | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** An entry as it is read: JSON as text, whose numbers keep all their digits. */
type ReadEntry = AuditEntry & {
  readonly beforeText: string | null;
  readonly afterText: string | null;
};

const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const presentState = (text: string | null): Record<string, unknown> | null =>
  text === null ? null : asWritten(text);

function presentEntry(entry: ReadEntry): AuditEntryDto {
  return {
    id: Number(entry.id),
    at: entry.at.toISOString(),
    actor: entry.actor,
    requestId: entry.requestId,
    callerRequestId: entry.callerRequestId,
    entity: camelCase(entry.entity),
    entityId: entry.entityId,
    entityKey: entry.entityKey,
    action: entry.action,
    before: presentState(entry.beforeText),
    after: presentState(entry.afterText),
  };
}

function filterEntries(
  query: TenantQueryBuilder<AuditEntry>,
  filter: AuditFilter,
): TenantQueryBuilder<AuditEntry> {
  const { from, to } = readTimeRange(filter);
  if (filter.entity !== undefined) void query.where('entity', snakeCase(filter.entity));
  if (filter.id !== undefined) void query.where('entityId', filter.id);
  if (filter.actor !== undefined) void query.where('actor', filter.actor);
  if (from !== undefined) void query.where('at', '>=', from);
  if (to !== undefined) void query.where('at', '<', to);
  return query;
}

const entryWeight: RowWeight<AuditEntry> = {
  sql: storedWeight('before', 'after'),
  bytesOf: (entry) => {
    const { beforeText, afterText } = entry as ReadEntry;
    return (beforeText?.length ?? 0) + (afterText?.length ?? 0);
  },
};

/**
 * The changes that match a filter, newest first (spec/beyond.md R5). 400: `from` or `to` is not a
 * time, or `from` is after `to`.
 */
export async function listAudit(
  { db, tenantId }: Scope,
  filter: AuditFilter,
  page: PageRequest,
): Promise<Listed<AuditEntryDto>> {
  const query = filterEntries(AuditEntry.query(db.read).forTenant(tenantId), filter);
  const total = await query.clone().resultSize();
  if (page.offset >= total) return { items: [], total };
  const entries = query
    .select('id', 'at', 'actor', 'requestId', 'callerRequestId')
    .select('entity', 'entityId', 'entityKey', 'action')
    .select(
      AuditEntry.raw(`${auditStateSql('before')}::text as "beforeText"`),
      AuditEntry.raw(`${auditStateSql('after')}::text as "afterText"`),
    )
    // Entries of one instant in the order in which they were written.
    .orderBy([
      { column: 'at', order: 'desc' },
      { column: 'id', order: 'desc' },
    ]);
  const { rows, isCut } = await readHeavyPage(entries, page, entryWeight);
  return { items: await mapInPortions(rows as readonly ReadEntry[], presentEntry), total, isCut };
}
