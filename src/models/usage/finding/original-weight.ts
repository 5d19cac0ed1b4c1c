import type { Knex } from 'knex';
import { arrayLiteral } from '../../../kernel/text/postgres-array.js';
import { placeOfUsageEvent } from '../../../messages/usage-log.js';
import { sqlRows } from '../../db/sql-rows.js';
import { eventContentsWeightSql } from '../event-message.js';
import { storable } from './usage-identity.js';

/** An original event, and about how many bytes all that it was ever sent or amended with has. */
interface WeighedOriginal {
  readonly id: string;
  readonly externalId: string;
  readonly weight: number;
}

/** What the events of these ids weigh that are the originals of these external ids, by external id. */
export async function weighOriginals(
  db: Knex,
  tenantId: string,
  externalIds: readonly string[],
  ids: readonly string[],
): Promise<ReadonlyMap<string, WeighedOriginal>> {
  // The place of one that is in the archive alone is what its id says.
  const placed = ids.flatMap((id) => {
    const place = placeOfUsageEvent(id);
    return place === undefined ? [] : [{ id, ...place }];
  });
  const rows = await sqlRows<WeighedOriginal>(
    db,
    `select t.id, t.external_transaction_id as "externalId",
       (${eventContentsWeightSql('t')})::float8 as weight
     from usage_event as t where t.tenant_id = :tenantId and t.id = any(:ids::uuid[])
     union all
     select t.id, t.external_id, (${eventContentsWeightSql('t')})::float8
     from (
       select given.*, named.tenant_id, named.external_id, null::text as message
       from unnest(:placedIds::uuid[], :partitions::integer[], :offsets::bigint[])
         as given (id, partition, "offset")
       join usage_identity as named on named.tenant_id = :tenantId
         and named.external_id = any(:externalIds::text[]) and named.event_id = given.id
     ) as t
     where not exists (
       select from usage_event where usage_event.tenant_id = :tenantId and usage_event.id = t.id
     )`,
    {
      tenantId,
      externalIds: externalIds.map(storable),
      ids: arrayLiteral(ids),
      placedIds: arrayLiteral(placed.map(({ id }) => id)),
      partitions: arrayLiteral(placed.map(({ partition }) => partition)),
      offsets: arrayLiteral(placed.map(({ offset }) => offset)),
    },
  );
  return new Map(rows.map((row) => [row.externalId, row]));
}
