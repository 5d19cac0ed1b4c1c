import type { Knex } from 'knex';
import { sqlRows, type SqlValue } from '../../db/sql-rows.js';

/** What rated events are listed by. */
export type ListKind = 'account' | 'service';

export interface ListKey {
  readonly kind: ListKind;
  /** The id of the account or service. */
  readonly key: string;
}

/** Ids of one group: 8 KiB, of which PostgreSQL compresses what they have in common. */
const groupMax = 512;
/** What waits is grouped when it has so many events, or the first of it has waited so long. */
const eventsMin = 100_000;
const waitMax = '10 seconds';
/** Events that one transaction groups. */
const eventsMax = 200_000;

/**
 * Whether a tenant's events from before the lists are being listed; until then facts are read, by the
 * indexes that such databases still have.
 */
const isListingSql = (tenant: string): string => `exists (
  select from fact_move where tenant_id = ${tenant} and kind = 'lists' and done_at is null
)`;

/** SQL for groups of `each` (id, account_id, service_id): rows of `usage_list` without their tenant. */
export const groupsSql = (each: string): string => `
  select kind, key, ids[1], ids[cardinality(ids)], cardinality(ids), ids
  from (
    select kind, key, array_agg(id order by id) as ids
    from (
      select kind, key, id, (row_number() over (partition by kind, key order by id) - 1)
        / ${groupMax} as piece
      from ${each} as each
      cross join lateral (values ('account', account_id), ('service', service_id)) as listed (kind, key)
      where key is not null
    ) as numbered group by kind, key, piece
  ) as grouped order by kind, key`;

/** One process at a time lists the events of a tenant, until the commit. */
const lockSql = `pg_try_advisory_xact_lock(hashtextextended('usage-list/' || :tenantId, 0))`;

const groupWaitingSql = `
  with held as materialized (
    select ${lockSql} and not ${isListingSql(':tenantId')} as is_held
  ), taken as (
    delete from usage_unlisted where tenant_id = :tenantId and id in (
      select id from (
        select id, sum(events) over (order by id) - events as events_before
        from usage_unlisted where tenant_id = :tenantId
      ) as summed where events_before < ${eventsMax}
    ) and (select is_held from held) returning *
  ), waiting as (
    select each.* from taken cross join unnest(ids, account_ids, service_ids)
      as each (id, account_id, service_id)
  ), written as (
    insert into usage_list (tenant_id, kind, key, first_id, last_id, events, ids)
    select :tenantId, grouped.* from (${groupsSql('waiting')}) as grouped
  )
  select exists (
    select from usage_unlisted where tenant_id = :tenantId and id > (select max(id) from taken)
  ) as "isCut"`;

/**
 * Groups the events that have waited longest; true: more wait than one transaction takes. Does nothing
 * while another process does it, or events from before are being listed.
 */
export async function groupUnlisted(trx: Knex.Transaction, tenantId: string): Promise<boolean> {
  const [row] = await sqlRows<{ isCut: boolean }>(trx, groupWaitingSql, { tenantId });
  return row?.isCut === true;
}

/** The tenants with events to group; read with the platform's handle. */
export async function listUnlistedTenants(platform: Knex): Promise<string[]> {
  // A loose index scan from tenant to tenant, whatever the number of rows of each.
  const rows = await sqlRows<{ tenantId: string }>(
    platform,
    `with recursive found as (
       (select tenant_id from usage_unlisted order by tenant_id limit 1)
       union all
       select (select tenant_id from usage_unlisted where tenant_id > found.tenant_id
         order by tenant_id limit 1)
       from found where found.tenant_id is not null
     )
     select tenant_id as "tenantId" from found where tenant_id is not null and (
       (select added_at from usage_unlisted where tenant_id = found.tenant_id order by id limit 1)
         < now() - interval '${waitMax}'
       or (select sum(events) from usage_unlisted where tenant_id = found.tenant_id) >= ${eventsMin}
     ) and not ${isListingSql('found.tenant_id')}`,
  );
  return rows.map(({ tenantId }) => tenantId);
}

/** Events that one transaction lists from the facts: the portion of `facts-of-earlier-versions.ts`. */
export const listedPortion = 20_000;

/**
 * Lists some rated events from the facts, from the last one on, but for those that wait to be grouped:
 * nothing is grouped until all are listed, so that each event is in one list of each kind.
 */
export const listsMoveSql = `
  with chosen as materialized (
    select id, account_id, service_id from usage_event
    where tenant_id = :tenantId and status = 'rated' and id > (
      select coalesce(last_id, '00000000-0000-0000-0000-000000000000') from fact_move
      where tenant_id = :tenantId and kind = 'lists'
    ) and ${isListingSql(':tenantId')}
    order by id limit ${listedPortion}
  ), waiting as (
    select unnest(ids) as id from usage_unlisted where tenant_id = :tenantId
  ), missing as (
    select * from chosen where not exists (select from waiting where waiting.id = chosen.id)
  ), written as (
    insert into usage_list (tenant_id, kind, key, first_id, last_id, events, ids)
    select :tenantId, grouped.* from (${groupsSql('missing')}) as grouped
  ), counted as (
    update fact_move set moved = moved + (select count(*) from chosen),
      last_id = coalesce((select id from chosen order by id desc limit 1), last_id),
      done_at = case when (select count(*) from chosen) < ${listedPortion} then now() end
    where tenant_id = :tenantId and kind = 'lists'
  )
  select count(*)::integer as "moved" from chosen`;

/** Starts to list all events of a tenant again; until its end, answers are read from the facts. */
export async function beginListing(trx: Knex.Transaction, tenantId: string): Promise<void> {
  // Neither groups are made nor facts moved meanwhile.
  for (const work of ['usage-list/', 'fact-move/']) {
    await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`${work}${tenantId}`]);
  }
  await trx.raw(
    `insert into fact_move (tenant_id, kind) values (?, 'lists')
     on conflict (tenant_id, kind) do update set done_at = null, last_id = null, moved = 0`,
    [tenantId],
  );
  await trx.raw('delete from usage_list where tenant_id = ?', [tenantId]);
}

/** Whether the events of a tenant are being listed. */
export async function isListing(db: Knex, tenantId: string): Promise<boolean> {
  const [row] = await sqlRows<{ isListing: boolean }>(
    db,
    `select ${isListingSql('?')} as "isListing"`,
    [tenantId],
  );
  return row?.isListing === true;
}

/** SQL for what is listed of a tenant: kind, key and id, whether it is grouped or waits. */
export const listedPartsSql = `
  select kind, key, unnest(ids) as id from usage_list where tenant_id = :tenantId
  union all
  select kind, key, waiting.id
  from usage_unlisted cross join unnest(ids, account_ids, service_ids)
    as waiting (id, account_id, service_id)
  cross join lateral (values ('account', account_id), ('service', service_id)) as own (kind, key)
  where tenant_id = :tenantId and key is not null`;

/** SQL for the ids of events that wait to be grouped, with their key, as the alias `waiting`. */
const waitingSql = (kind: ListKind): string => `usage_unlisted as unlisted
  cross join unnest(ids, ${kind}_ids) as waiting (id, key)`;

interface Statement {
  readonly sql: string;
  readonly bindings: readonly SqlValue[];
}

/** SQL for the ids of the events of an account or service, of every status. */
export function listedIds(tenantId: string, { kind, key }: ListKey): Statement {
  const column = `${kind}_id`;
  return {
    sql: `
      select unnest(ids) as id from usage_list
      where tenant_id = ? and kind = '${kind}' and key = ? and not ${isListingSql('?')}
      union all
      select waiting.id from ${waitingSql(kind)}
      where unlisted.tenant_id = ? and waiting.key = ? and not ${isListingSql('?')}
      union all
      select id from usage_event
      where tenant_id = ? and ${column} = ? and status <> 'rated' and not ${isListingSql('?')}
      union all
      select id from usage_event
      where tenant_id = ? and ${column} = ? and ${isListingSql('?')}`,
    bindings: Array.from({ length: 4 }, () => [tenantId, key, tenantId]).flat(),
  };
}

/**
 * The ids of the rated events of an account between two ids, in no order, not more than `limit`; its lists
 * are read where they reach into that range.
 */
export async function listRatedIds(
  db: Knex,
  tenantId: string,
  accountId: string,
  { first, last }: { readonly first: string; readonly last: string },
  limit: number,
): Promise<string[]> {
  // As one text, since there may be many: it is cheaper than as many rows. Without a limit it could be
  // longer than a text of JavaScript may be, which ends the process.
  const [row] = await sqlRows<{ ids: string | null }>(
    db,
    `select string_agg(id::text, ',') as ids from (
       select each.id from usage_list cross join unnest(ids) as each (id)
       where tenant_id = :tenantId and kind = 'account' and key = :accountId
         and last_id >= :first and first_id <= :last and each.id >= :first and each.id <= :last
         and not ${isListingSql(':tenantId')}
       union all
       select waiting.id from ${waitingSql('account')}
       where unlisted.tenant_id = :tenantId and waiting.key = :accountId
         and waiting.id >= :first and waiting.id <= :last and not ${isListingSql(':tenantId')}
       union all
       select id from usage_event
       where tenant_id = :tenantId and account_id = :accountId and status = 'rated'
         and id >= :first and id <= :last and ${isListingSql(':tenantId')}
       limit :limit
     ) as listed`,
    { tenantId, accountId, first, last, limit },
  );
  return row?.ids?.split(',') ?? [];
}

/** A page of the events of an account or service, newest first, and how many there are. */
export interface ListedPage {
  readonly ids: readonly string[];
  readonly total: number;
}

/**
 * The page from the lists; undefined while they are made. Groups of a key lie nearly one behind the
 * other: of the newest ones that together have enough events for the page, none is older than their
 * lowest id, so that only groups which reach above that id are taken apart.
 *
 * With groups of the ids {7, 9}, {5, 8} and {1, 3}, the newest two events are in the first one; its
 * lowest id is 7, and the second reaches above it: of 9, 8 and 7 the newest two are 9 and 8.
 */
const pageSql = (kind: ListKind, isRatedOnly: boolean): string => {
  const open = `from usage_event
      where tenant_id = :tenantId and ${kind}_id = :key and status <> 'rated'
        and ${isRatedOnly ? 'false' : 'true'}`;
  return `
    with known as materialized (
      select first_id, last_id, events, sum(events) over (order by last_id desc) - events as newer
      from usage_list where tenant_id = :tenantId and kind = '${kind}' and key = :key
    ), bound as (
      select coalesce(
        (select first_id from known where newer < :needed order by first_id limit 1),
        '00000000-0000-0000-0000-000000000000') as id
    ), waiting as materialized (
      select waiting.id from ${waitingSql(kind)}
      where unlisted.tenant_id = :tenantId and waiting.key = :key
    ), candidate as (
      select each.id from usage_list cross join unnest(ids) as each (id)
      where tenant_id = :tenantId and kind = '${kind}' and key = :key
        and last_id >= (select id from bound) and each.id >= (select id from bound)
      union all
      select id from waiting
      union all
      (select id ${open} order by id desc limit :needed)
    )
    select array(select id from candidate order by id desc limit :limit offset :offset) as "ids",
      coalesce((select sum(events) from known), 0) + (select count(*) from waiting)
        + (select count(*) ${open}) as "total",
      ${isListingSql(':tenantId')} as "isListing"`;
};

export async function findListedPage(
  db: Knex,
  tenantId: string,
  { kind, key, isRatedOnly }: ListKey & { readonly isRatedOnly: boolean },
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<ListedPage | undefined> {
  const [found] = await sqlRows<{ ids: string[]; total: string; isListing: boolean }>(
    db,
    pageSql(kind, isRatedOnly),
    { tenantId, key, limit, offset, needed: limit + offset },
  );
  if (!found || found.isListing) return undefined;
  return { ids: found.ids, total: Number(found.total) };
}
