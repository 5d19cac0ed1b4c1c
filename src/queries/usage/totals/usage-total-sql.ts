import type { SqlValue } from '../../../models/db/sql-rows.js';
import { eventMessageSql, sentMessageSql } from '../../../models/usage/event-message.js';
import { eventTimeSql, factPartsSql, partsKnownSql } from '../../../models/usage/usage-fact.js';
import { pendingPartsSql } from '../../../models/usage/usage-total.js';
import type { UsageBucket, UsageGroup } from '../../../schemas/usage/usage-total.js';
import type { SourceRange } from './usage-total-ranges.js';

/** One name of `groupBy` or of a filter. */
export type TotalKey = { readonly name: UsageGroup } | { readonly dimension: string };

/** What is asked of totals, as its names are understood. */
export interface AskedTotals {
  readonly bucket: UsageBucket;
  readonly groups: readonly TotalKey[];
  readonly filters: readonly (readonly [TotalKey, string])[];
  readonly limit: number;
  readonly offset: number;
  /** Of what was known then; null: of what is known now. */
  readonly knownOn: Date | null;
  /** Of an embed: the account whose messages and contracts alone are told (spec/beyond.md R455). */
  readonly embeddedAccountId: string | undefined;
}

/** The column of the parts for each name of `groupBy`. */
const columns: Readonly<Record<UsageGroup, string>> = {
  account: 'account_id',
  service: 'service_id',
  attribute: 'attribute_name',
  contract: 'contract_id',
  usageType: 'usage_type',
};

interface Statement {
  readonly sql: string;
  readonly bindings: Readonly<Record<string, SqlValue>>;
}

/** Collects values as named bindings. */
class Bindings {
  readonly values: Record<string, SqlValue> = {};

  /** Adds a value; returns its placeholder. */
  of(value: SqlValue): string {
    const name = `value${Object.keys(this.values).length}`;
    this.values[name] = value;
    return `:${name}`;
  }
}

/** `column` within a range; an open end is no condition. */
function within(column: string, { from, to }: SourceRange, bindings: Bindings): string {
  return [
    ...(from === null ? [] : [`${column} >= ${bindings.of(from)}::timestamptz`]),
    ...(to === null ? [] : [`${column} < ${bindings.of(to)}::timestamptz`]),
    'true',
  ].join(' and ');
}

/** A date of charges within the days that a range touches. */
function onDays({ from, to }: SourceRange, bindings: Bindings): string {
  return [
    ...(from === null ? [] : [`transaction_date >= ${bindings.of(from.slice(0, 10))}::date`]),
    ...(to === null ? [] : [`transaction_date <= ${bindings.of(to.slice(0, 10))}::date`]),
    'true',
  ].join(' and ');
}

const partColumns =
  'part.account_id, part.contract_id, part.service_id, part.usage_type, part.currency, part.attribute_name, part.has_rows';

/**
 * Rows of parts for each source: the combination and hour, or the event, that a part belongs to
 * (source_id; for pending deltas delta_id, start_at), the number of events, and the part's quantity
 * and amount.
 */
function sourceSql(range: SourceRange, bindings: Bindings): string[] {
  if (range.source === 'facts') return [];
  const grain = bindings.of(range.source);
  const isCoarse = range.source !== 'day';
  const kept = `
    select total.combination_id as source_id, 0::bigint as delta_id, total.start_at, total.events, ${partColumns},
      value.quantity, value.amount, null::jsonb as dimensions
    from (
      select distinct combination_id from usage_combination_part as part
      where tenant_id = :tenantId and is_coarse = ${isCoarse} and (:conditions)
    ) as chosen
    join lateral (
      select * from usage_total where tenant_id = :tenantId and grain = ${grain}
        and combination_id = chosen.combination_id and ${within('start_at', range, bindings)}
    ) as total on true
    cross join unnest(total.quantities, total.amounts) with ordinality
      as value (quantity, amount, position)
    join usage_combination_part as part on part.tenant_id = :tenantId
      and part.combination_id = total.combination_id and part.position = value.position`;
  const waiting = `
    select delta.combination_id, delta.delta_id, delta.start_at, delta.events, ${partColumns},
      delta.quantity, delta.amount, null::jsonb
    from (${pendingPartsSql}) as delta
    join usage_combination_part as part on part.tenant_id = :tenantId
      and part.combination_id = delta.combination_id and part.position = delta.position
    where ${within('delta.start_at', range, bindings)}`;
  return [kept, waiting];
}

/** What is read of messages. */
interface ReadDimensions {
  readonly areNeeded: boolean;
  /** Only of events that this account used; undefined: of all. */
  readonly ofUser: string | undefined;
}

const messageOr = (text: string, { areNeeded }: ReadDimensions): string =>
  areNeeded ? text : 'null::text';

/**
 * The events in ranges that are read from the facts. With an account filter, those with a charge
 * billed to it, by the index of charges.
 */
function eventsSql(
  ranges: readonly SourceRange[],
  {
    service,
    account,
  }: { readonly service: string | undefined; readonly account: string | undefined },
  dimensions: ReadDimensions,
  bindings: Bindings,
): string {
  const times = ranges.map((range) => `(${within(eventTimeSql, range, bindings)})`).join(' or ');
  const ofService = service === undefined ? 'true' : `service_id = ${bindings.of(service)}::uuid`;
  const dates = ranges.map((range) => `(${onDays(range, bindings)})`);
  const ofAccount =
    account === undefined
      ? 'true'
      : `id in (select usage_event_id from rated_transaction where tenant_id = :tenantId
          and account_id = ${bindings.of(account)}::uuid and (${dates.join(' or ')}))`;
  const { ofUser } = dimensions;
  const used = ofUser === undefined ? 'true' : `account_id = ${bindings.of(ofUser)}::uuid`;
  return `
  event as materialized (
    select id, event_at, sent::jsonb -> 'dimensions' as dimensions, sent is null as is_gone
    from usage_event cross join lateral (
      select ${messageOr(eventMessageSql('usage_event'), dimensions)} as sent offset 0
    ) as log
    where tenant_id = :tenantId and status = 'rated' and ${ofService} and ${ofAccount} and ${used}
      and (${times})
  ),
  ${factPartsSql},`;
}

/**
 * The same as it was known at an instant: each event at the time, and with the content, that it had
 * then. What is canceled since counts, what was rated later has no charges yet.
 */
function eventsKnownSql(
  ranges: readonly SourceRange[],
  knownOn: Date,
  dimensions: ReadDimensions,
  bindings: Bindings,
): string {
  const at = `${bindings.of(knownOn.toISOString())}::timestamptz`;
  const current = ranges.map((range) => `(${within(eventTimeSql, range, bindings)})`).join(' or ');
  const then = ranges.map((range) => `(${within('event_at', range, bindings)})`).join(' or ');
  const amended = `(
    select amended.message from usage_event_change as amended
    where amended.tenant_id = usage_event.tenant_id and amended.event_id = usage_event.id
      and amended.message is not null and amended.changed_at <= ${at}
    order by amended.number desc limit 1)`;
  const message = `coalesce(${amended}, ${sentMessageSql('usage_event')})`;
  const { ofUser } = dimensions;
  const isOf = (row: string): string => `${row}.account_id = ${bindings.of(ofUser ?? null)}::uuid`;
  // Now and then, as its receipt is read (docs/decisions/0467).
  const used =
    ofUser === undefined
      ? 'true'
      : `${isOf('usage_event')} and (was.event_id is null or ${isOf('was')})`;
  return `
  event as materialized (
    select id, event_at, sent::jsonb -> 'dimensions' as dimensions, sent is null as is_gone
    from (
      select usage_event.id, case when was.event_id is null then usage_event.event_at
        else was.event_at end as event_at,
        ${messageOr(message, dimensions)} as sent
      from usage_event left join lateral (
        select * from usage_event_change as change
        where change.tenant_id = usage_event.tenant_id and change.event_id = usage_event.id
          and change.changed_at > ${at}
        order by change.number limit 1
      ) as was on true
      where usage_event.tenant_id = :tenantId and usage_event.status in ('rated', 'canceled')
        and ${used} and (${current} or usage_event.id in (
          select event_id from usage_event_change where tenant_id = :tenantId))
    ) as known where (${then})
  ),
  ${partsKnownSql(`(case when correction_id is null then rated_at <= ${at} else correction_id in (
    select id from usage_correction where tenant_id = :tenantId and created_at <= ${at}
  ) end)`)},`;
}

/** No part at all, with the columns of each source. */
const none = `select null::uuid as source_id, 0::bigint as delta_id, null::timestamptz as start_at, 0::bigint as events,
  null::uuid as account_id, null::uuid as contract_id, null::uuid as service_id,
  null::text as usage_type, null::text as currency, null::text as attribute_name,
  false as has_rows, 0::numeric as quantity, 0::numeric as amount, null::jsonb as dimensions
  where false`;

/** The value of a filter by name. */
const filterOf = (
  { filters }: AskedTotals,
  wanted: UsageGroup,
): AskedTotals['filters'][number][1] | undefined =>
  filters.find(([key]) => 'name' in key && key.name === wanted)?.[1];

/** The events that are read from the facts; nothing where none are. */
function readEventsSql(
  read: readonly SourceRange[],
  asked: AskedTotals,
  needsDimensions: boolean,
  bindings: Bindings,
): string {
  if (read.length === 0) return '';
  const ofUser = needsDimensions ? asked.embeddedAccountId : undefined;
  const dimensions = { areNeeded: needsDimensions, ofUser };
  if (asked.knownOn) return eventsKnownSql(read, asked.knownOn, dimensions, bindings);
  const of = { service: filterOf(asked, 'service'), account: filterOf(asked, 'account') };
  return eventsSql(read, of, dimensions, bindings);
}

function valueSql(key: TotalKey, { embeddedAccountId }: AskedTotals, bindings: Bindings): string {
  if ('dimension' in key) return `(dimensions ->> ${bindings.of(key.dimension)}::text)`;
  if (key.name !== 'contract' || embeddedAccountId === undefined) return columns[key.name];
  return `(case when contract_id in (
    select id from contract
    where tenant_id = :tenantId and master_account_id = ${bindings.of(embeddedAccountId)}::uuid
  ) then contract_id end)`;
}

/**
 * The summed values of each part. By attribute, priced rows count for their attribute; the
 * difference between a charge and the sum of its rows counts for null. 1.00 for 5 calls at 0.10
 * with a logic that doubles gives calls 0.50 and null 0.50, whose quantity is 0.
 */
function countedSql(isByAttribute: boolean, ofAttribute: boolean): string {
  if (ofAttribute) return 'select * from part_of where attribute_name is not null';
  if (!isByAttribute) return 'select * from part_of where attribute_name is null';
  const rest = (quantity: string, amount: string) =>
    `select source_id, delta_id, start_at, events, account_id, contract_id, service_id, usage_type, currency,
       null::text as attribute_name, has_rows, ${quantity}, ${amount}, dimensions from part_of`;
  return `
    select * from part_of where attribute_name is not null
    union all ${rest('case when has_rows then 0 else quantity end', 'amount')} where attribute_name is null
    union all ${rest('0', '-amount')} where attribute_name is not null`;
}

/**
 * Totals by bucket, keys and currency. One statement, so that all sources are of the same snapshot;
 * an event with several charges in a group counts once. At least one row, which has the flag of a
 * running rebuild.
 */
export function usageTotalsSql(asked: AskedTotals, ranges: readonly SourceRange[]): Statement {
  const { bucket, groups, filters, limit, offset } = asked;
  const bindings = new Bindings();
  const conditionOf = ([key, value]: (typeof filters)[number]): string => {
    const isId = 'name' in key && key.name !== 'attribute' && key.name !== 'usageType';
    return `${valueSql(key, asked, bindings)} = ${bindings.of(value)}::${isId ? 'uuid' : 'text'}`;
  };
  const conditions = filters.map(conditionOf);
  const ofParts = filters.filter(([key]) => 'name' in key).map(conditionOf);
  const needsDimensions = [...groups, ...filters.map(([key]) => key)].some(
    (key) => 'dimension' in key,
  );
  const read = ranges.filter(({ source }) => source === 'facts');
  const sources = ranges.flatMap((range) =>
    sourceSql(range, bindings).map((sql) =>
      sql.replace(':conditions', ofParts.join(' and ') || 'true'),
    ),
  );
  if (read.length > 0) {
    sources.push(`
    select part.event_id as source_id, 0::bigint as delta_id, part.event_at as start_at, 1::bigint as events, ${partColumns},
      part.quantity, part.amount, part.dimensions
    from part`);
  }
  const keys = groups.map((key, index) => `${valueSql(key, asked, bindings)} as key${index}`);
  const names = groups.map((_key, index) => `key${index}`);
  const bucketSql =
    bucket === 'none' ? 'null::timestamptz' : `date_trunc('${bucket}', start_at, 'UTC')`;
  const isByAttribute = groups.some((key) => 'name' in key && key.name === 'attribute');
  const by = ['bucket', ...names, 'currency'].join(', ');
  const order = ['bucket', ...names.map((name) => `${name} nulls last`), 'currency'].join(', ');
  const sql = `
  with ${readEventsSql(read, asked, needsDimensions, bindings)}
  part_of as (${[none, ...sources].join(' union all ')}),
  counted as (${countedSql(isByAttribute, filterOf(asked, 'attribute') !== undefined)}),
  keyed as (
    select ${[...keys, `${bucketSql} as bucket`].join(', ')}, currency, source_id, delta_id, start_at, events,
      quantity, amount, attribute_name, has_rows
    from counted where ${['true', ...conditions].join(' and ')}
  ),
  by_source as (
    select ${by}, source_id, delta_id, start_at, max(events) as events, sum(quantity) as quantity,
      sum(amount) as amount
    from keyed group by ${by}, source_id, delta_id, start_at, (attribute_name is null)
    having ${isByAttribute ? 'not (attribute_name is null) or sum(amount) <> 0 or not bool_or(has_rows)' : 'true'}
  ),
  summed as (
    select ${by}, sum(events) as events, sum(quantity) as quantity, sum(amount) as amount,
      (count(*) over ())::integer as total
    from by_source group by ${by}
    having sum(events) <> 0 or sum(quantity) <> 0 or sum(amount) <> 0
  ),
  page as (select * from summed order by ${order} limit ${bindings.of(limit)} offset ${bindings.of(offset)})
  select exists (
    select from usage_total_rebuild where tenant_id = :tenantId
  ) as "isBeingMade", ${needsDimensions ? '(select count(*) from event where is_gone)::integer' : '0'} as "withoutMessage", coalesce(total, (select max(total) from summed)) as total, bucket, currency,
    events::text, quantity::text, amount::text ${names.map((name) => `, ${name}::text as "${name}"`).join('')}
  from (select) as always left join page on true
  order by ${order}`;
  return { sql, bindings: bindings.values };
}
