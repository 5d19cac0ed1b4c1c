import type { Knex } from 'knex';
import { placeOfUsageEvent } from '../../../messages/usage-log.js';
import { sqlRows } from '../../db/sql-rows.js';
import { sentMessageSql } from '../event-message.js';

/** What a repeat is compared with of an event that is in the archive alone (docs/decisions/0347). */
export interface ArchivedOriginal {
  readonly id: string;
  readonly externalTransactionId: string;
  /** Rejected events do not leave the database, and of all others a repeat is a duplicate. */
  readonly status: 'rated';
  readonly partition: number;
  readonly offset: string;
  /** Its content, as it was amended last; null: the log has it no more. */
  readonly text: string | null;
  /** What it was sent with, where it was amended since. */
  readonly sent: string | null;
  readonly eventAt: null;
}

/** Events of these ids with their external ids, which are of those that were asked for. */
export async function readArchivedOriginals(
  db: Knex,
  tenantId: string,
  {
    externalIds,
    ids,
  }: { readonly externalIds: readonly string[]; readonly ids: readonly string[] },
): Promise<ArchivedOriginal[]> {
  const named = await sqlRows<{ id: string; externalId: string }>(
    db,
    `select event_id as id, external_id as "externalId" from usage_identity
     where tenant_id = ? and external_id = any(?::text[]) and event_id = any(?::uuid[])`,
    [tenantId, externalIds, ids],
  );
  // Events whose place is not what their id says keep their row.
  const placed = named.flatMap(({ id, externalId }) => {
    const place = placeOfUsageEvent(id);
    return place === undefined ? [] : [{ id, externalId, ...place }];
  });
  const texts = await sqlRows<{ id: string; amended: string | null; sent: string | null }>(
    db,
    `select t.id, (
       select change.message from usage_event_change as change
       where change.tenant_id = :tenantId and change.event_id = t.id and change.message is not null
       order by change.number desc limit 1
     ) as amended, (${sentMessageSql('t')}) as sent
     from unnest(:ids::uuid[], :partitions::integer[], :offsets::bigint[])
       as given (id, partition, "offset")
     cross join lateral (
       select given.*, :tenantId::text as tenant_id, null::text as message
     ) as t`,
    {
      tenantId,
      ids: placed.map(({ id }) => id),
      partitions: placed.map(({ partition }) => partition),
      offsets: placed.map(({ offset }) => offset),
    },
  );
  const byId = new Map(texts.map((row) => [row.id, row]));
  return placed.map(({ id, externalId, partition, offset }) => {
    const { amended = null, sent = null } = byId.get(id) ?? {};
    return {
      id,
      externalTransactionId: externalId,
      status: 'rated',
      partition,
      offset: String(offset),
      text: amended ?? sent,
      sent: amended === null ? null : sent,
      eventAt: null,
    };
  });
}
