import type { Knex } from 'knex';
import { sqlRows } from '../../db/sql-rows.js';
import { isAsSentSql } from '../event-message.js';
import { eventTimeSql } from '../usage-fact.js';

/** Which rated events are meant. */
export interface RatedRange {
  /** Between which ids they are, by the days that the range touches. */
  readonly first: string;
  readonly last: string;
  readonly from: string;
  readonly to: string;
  /** Null: all. */
  readonly serviceIds: readonly string[] | null;
}

/** A rated event with its place in the log. */
export interface RatedPlace {
  readonly id: string;
  readonly accountId: string;
  readonly serviceId: string | null;
  readonly partition: number;
  readonly offset: number;
  /** Whether it has the message that stands there. */
  readonly isAsSent: boolean;
}

interface AccountEvents {
  readonly accountId: string;
  readonly events: number;
}

/** SQL for the ids of an account's rated events that wait to be listed, as the alias `waiting`. */
const waitingSql = `usage_unlisted as unlisted
  cross join unnest(ids, account_ids) as waiting (id, account_id)`;

const isListingSql = `exists (
  select from fact_move where tenant_id = :tenantId and kind = 'lists' and done_at is null
)`;

/**
 * SQL for what is found among the events themselves, while the lists are being made. It stands in a
 * subquery of its own, because PostgreSQL starts parallel workers for it before it sees that it is not meant.
 */
const whileListing = (select: string): string => `
  select found.* from (select where ${isListingSql}) as listing
  cross join lateral (${select} offset 0) as found`;

/**
 * The next accounts in the order of their ids, with about how many rated events each has between two
 * ids: not fewer than it has.
 */
const accountsSql = `
  with chosen as materialized (
    select id from account
    where tenant_id = :tenantId and (:afterId::uuid is null or id > :afterId::uuid)
      and (:accountIds::uuid[] is null or id = any(:accountIds::uuid[]))
    order by id limit :most
  ), counted as (
    select key as account_id, sum(events) as events from usage_list
    where tenant_id = :tenantId and kind = 'account' and key in (select id from chosen)
      and last_id >= :first::uuid and first_id <= :last::uuid
    group by key
    union all
    select waiting.account_id, count(*) from ${waitingSql}
    where unlisted.tenant_id = :tenantId and waiting.account_id in (select id from chosen)
    group by waiting.account_id
    union all
    ${whileListing(`
      select account_id, count(*) from usage_event
      where tenant_id = :tenantId and status = 'rated' and account_id in (select id from chosen)
        and id >= :first::uuid and id <= :last::uuid group by account_id`)}
  )
  select chosen.id as "accountId", coalesce((
    select sum(events) from counted where counted.account_id = chosen.id
  ), 0)::integer as "events"
  from chosen order by chosen.id`;

export function nextAccounts(
  db: Knex,
  tenantId: string,
  { first, last }: RatedRange,
  {
    afterId,
    accountIds,
    most,
  }: {
    readonly afterId: string | null;
    readonly accountIds: readonly string[] | null;
    readonly most: number;
  },
): Promise<AccountEvents[]> {
  return sqlRows<AccountEvents>(db, accountsSql, {
    tenantId,
    afterId,
    accountIds,
    most,
    first,
    last,
  });
}

/**
 * Those of the given ids whose event is rated and in the range, account by account, as one text: it is
 * cheaper than as many rows. The ids are one array, so that each month is looked through once for all of them.
 */
const inRangeSql = `
  select string_agg(concat(
    id, ' ', account_id, ' ', service_id, ' ', partition, ' ', "offset", ' ',
    ${isAsSentSql('usage_event')}
  ), ',' order by account_id, id) as places
  from usage_event
  where tenant_id = :tenantId and id = any(array(select id from candidate)) and status = 'rated'
    and account_id = any(:accountIds::uuid[])
    and (:serviceIds::uuid[] is null or service_id = any(:serviceIds::uuid[]))
    and ${eventTimeSql} >= :from::timestamptz and ${eventTimeSql} < :to::timestamptz`;

const readPlaces = (places: string | null | undefined): RatedPlace[] =>
  places?.split(',').map((text): RatedPlace => {
    const [id = '', accountId = '', serviceId, partition, offset, isAsSent] = text.split(' ');
    return {
      id,
      accountId,
      serviceId: serviceId || null,
      partition: Number(partition),
      offset: Number(offset),
      isAsSent: isAsSent === 't',
    };
  }) ?? [];

const allSql = `
  with candidate as materialized (
    select each.id from usage_list cross join unnest(ids) as each (id)
    where tenant_id = :tenantId and kind = 'account' and key = any(:accountIds::uuid[])
      and last_id >= :first::uuid and first_id <= :last::uuid and not ${isListingSql}
    union
    select waiting.id from ${waitingSql}
    where unlisted.tenant_id = :tenantId and waiting.account_id = any(:accountIds::uuid[])
    union
    ${whileListing(`
      select id from usage_event
      where tenant_id = :tenantId and status = 'rated' and account_id = any(:accountIds::uuid[])
        and id >= :first::uuid and id <= :last::uuid`)}
  ) ${inRangeSql}`;

/** All rated events of these accounts in the range, account by account in the order of the ids. */
export async function ratedOfAccounts(
  db: Knex,
  tenantId: string,
  range: RatedRange,
  accountIds: readonly string[],
): Promise<readonly RatedPlace[]> {
  const bindings = { tenantId, ...range, accountIds };
  const [found] = await sqlRows<{ places: string | null }>(db, allSql, bindings);
  return readPlaces(found?.places);
}

/**
 * The next ids of an account that is larger than a portion: up to `bound`, the highest id of the first
 * groups that have enough, none of the later groups has a lower id than the last one of them that
 * reaches below it.
 */
const portionSql = `
  with known as materialized (
    select first_id, last_id, sum(events) over (order by last_id) as reached from usage_list
    where tenant_id = :tenantId and kind = 'account' and key = :accountId::uuid
      and last_id > :afterId::uuid and first_id <= :last::uuid and not ${isListingSql}
  ), bound as materialized (
    select least(:last::uuid, coalesce(
      (select last_id from known where reached >= :most order by last_id limit 1),
      (select id from usage_event
        where tenant_id = :tenantId and id > :afterId::uuid and id <= :last::uuid and ${isListingSql}
        order by id limit 1 offset :most),
      :last::uuid
    )) as id
  ), candidate as materialized (
    select each.id from usage_list cross join unnest(ids) as each (id)
    where tenant_id = :tenantId and kind = 'account' and key = :accountId::uuid
      and last_id > :afterId::uuid and first_id <= (select id from bound) and not ${isListingSql}
      and each.id > :afterId::uuid and each.id <= (select id from bound)
    union
    select waiting.id from ${waitingSql}
    where unlisted.tenant_id = :tenantId and waiting.account_id = :accountId::uuid
      and waiting.id > :afterId::uuid and waiting.id <= (select id from bound)
    union
    ${whileListing(`
      select id from usage_event
      where tenant_id = :tenantId and id > :afterId::uuid and id <= (select id from bound)
        and account_id = :accountId::uuid`)}
  )
  select (select id from bound) as "bound", (${inRangeSql}) as places`;

/**
 * The next rated events of an account in the range, and the id up to which there are no others: at most
 * twice as many as were asked for.
 */
export async function ratedAfter(
  db: Knex,
  tenantId: string,
  range: RatedRange,
  {
    accountId,
    afterId,
    most,
  }: { readonly accountId: string; readonly afterId: string; readonly most: number },
): Promise<{ readonly bound: string; readonly events: readonly RatedPlace[] }> {
  const [found] = await sqlRows<{ bound: string; places: string | null }>(db, portionSql, {
    tenantId,
    ...range,
    accountId,
    accountIds: [accountId],
    afterId,
    most,
  });
  const bound = found?.bound ?? range.last;
  const events = readPlaces(found?.places);
  if (events.length <= 2 * most) return { bound, events };
  // What waits to be listed has no groups by which a bound could be found.
  const some = events.slice(0, most);
  return { bound: some.at(-1)?.id ?? bound, events: some };
}
