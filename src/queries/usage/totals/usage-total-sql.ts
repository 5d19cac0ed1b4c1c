import type { SqlValue } from '../../../models/db/sql-rows.js';
import { eventMessageSql, sentMessageSql } from '../../../models/usage/event-message.js';
import { eventTimeSql, partsKnownSql } from '../../../models/usage/usage-fact.js';
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
function within(
  column: string,
  { from, to }: Omit<SourceRange, 'source'>,
  bindings: Bindings,
): string {
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

/** What stored totals of a range are, beside the parts of their combinations. */
const keptSql = ({ source, ...range }: SourceRange, bindings: Bindings): string => `
  usage_total as total on total.tenant_id = :tenantId and total.grain = ${bindings.of(source)}
    and total.combination_id = part.combination_id and ${within('total.start_at', range, bindings)}
    and part.is_coarse = ${source !== 'day'}`;

/**
 * Of stored charges what their priced rows do not come to, as charges: charges, and less the rows of
 * each. Their source is the combination and its hour (source_id, start_at). Most come to the whole: of
 * one charge that does nothing is read further.
 */
const keptRestSql = (range: SourceRange, conditions: string, bindings: Bindings): string => `
    select total.combination_id as source_id, 0::bigint as delta_id, total.start_at, total.events,
      part.account_id, part.contract_id, part.service_id, part.usage_type, part.currency,
      null::text as attribute_name, part.has_rows or part.attribute_name is not null as has_rows,
      total.quantities[part.position] as quantity,
      case when part.attribute_name is null then 1 else -1 end * total.amounts[part.position] as amount,
      null::jsonb as dimensions
    from usage_combination_part as part join ${keptSql(range, bindings)}
    where part.tenant_id = :tenantId and ${conditions} and (
      total.amounts[1] is distinct from case when cardinality(total.amounts) = 2
        then total.amounts[2] else (select sum(amount) from unnest(total.amounts[2:]) as amount) end
      -- Found at once: asked for each total it took most of the time.
      or part.combination_id in (
        select combination_id from usage_combination_part as other
        where other.tenant_id = :tenantId and other.is_coarse = ${range.source !== 'day'}
          and other.position > 1 and other.attribute_name is null
      )
    )`;

/** All parts of what waits to be stored, where delta_id is of the source, too. */
const waitingPartsSql = (range: SourceRange, bindings: Bindings): string => `
    select delta.combination_id as source_id, delta.delta_id, delta.start_at, delta.events, ${partColumns},
      delta.quantity, delta.amount, null::jsonb as dimensions
    from (${pendingPartsSql}) as delta
    join usage_combination_part as part on part.tenant_id = :tenantId
      and part.combination_id = delta.combination_id and part.position = delta.position
    where ${within('delta.start_at', range, bindings)}`;

const evenBuckets: readonly UsageBucket[] = ['minute', 'hour', 'day'];

/** Buckets of one length are counted from a midnight: to cut off what is below takes longer. */
const bucketSql = (bucket: UsageBucket, column: string): string =>
  bucket === 'none'
    ? 'null::timestamptz'
    : evenBuckets.includes(bucket)
      ? `date_bin('1 ${bucket}', ${column}, timestamptz '2000-01-01T00:00:00Z')`
      : `date_trunc('${bucket}', ${column}, 'UTC')`;

/** How charges, or their priced rows, are grouped: columns of SQL, their names, and conditions. */
interface Grouping {
  readonly ofRows: boolean;
  readonly keys: readonly string[];
  readonly names: readonly string[];
  readonly conditions: string;
  readonly bucket: UsageBucket;
}

/**
 * Stored totals as rows of groups: most of what is read, and summed by its source first it would take
 * twice as long. An event counts in a group once: with the first of its charges, or rows, there, which
 * the combination tells.
 */
function keptGroupsSql(range: SourceRange, grouping: Grouping, bindings: Bindings): string {
  const { ofRows, keys, names, conditions, bucket } = grouping;
  const parts = `(
    select ${['combination_id', 'position', 'is_coarse', ...keys, 'currency'].join(', ')}
    from usage_combination_part
    where tenant_id = :tenantId and attribute_name is ${ofRows ? 'not null' : 'null'}
      and ${conditions}
  )`;
  // A charge comes before its rows.
  const first = ofRows ? 2 : 1;
  // What is stored by this step needs no other.
  const isStep = range.source.endsWith(bucket);
  const by = [...names, 'currency'];
  const groupOf = (row: string): string => by.map((name) => `${row}.${name}`).join(', ');
  return `
    select ${isStep ? 'total.start_at' : bucketSql(bucket, 'total.start_at')} as bucket, ${groupOf('part')},
      case when part.position = ${first} or not exists (
        select from ${parts} as earlier
        where earlier.combination_id = part.combination_id and earlier.position < part.position
          and row(${groupOf('earlier')}) is not distinct from row(${groupOf('part')})
      ) then total.events else 0 end as events,
      total.quantities[part.position] as quantity, total.amounts[part.position] as amount
    from ${parts} as part join ${keptSql(range, bindings)}`;
}

/** What is read of events beside their charges. */
interface Reading {
  readonly withRows: boolean;
  readonly withDimensions: boolean;
  /** Only of events that this account used; undefined: of all. */
  readonly ofUser: string | undefined;
}

const messageOr = (text: string, { withDimensions }: Reading): string =>
  withDimensions ? text : 'null::text';

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
  reading: Reading,
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
  const { ofUser } = reading;
  const used = ofUser === undefined ? 'true' : `account_id = ${bindings.of(ofUser)}::uuid`;
  return `
  event as materialized (
    select id, event_at, sent::jsonb -> 'dimensions' as dimensions, sent is null as is_gone
    from usage_event cross join lateral (
      select ${messageOr(eventMessageSql('usage_event'), reading)} as sent offset 0
    ) as log
    where tenant_id = :tenantId and status = 'rated' and ${ofService} and ${ofAccount} and ${used}
      and (${times})
  ),
  ${partsKnownSql('true', reading)},`;
}

/**
 * The same as it was known at an instant: each event at the time, and with the content, that it had
 * then. What is canceled since counts, what was rated later has no charges yet.
 */
function eventsKnownSql(
  ranges: readonly SourceRange[],
  knownOn: Date,
  reading: Reading,
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
  const { ofUser } = reading;
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
        ${messageOr(message, reading)} as sent
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
  ${partsKnownSql(
    `(case when correction_id is null then rated_at <= ${at} else correction_id in (
      select id from usage_correction where tenant_id = :tenantId and created_at <= ${at}
    ) end)`,
    reading,
  )},`;
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
  needs: Omit<Reading, 'ofUser'>,
  bindings: Bindings,
): string {
  if (read.length === 0) return '';
  const reading = { ...needs, ofUser: needs.withDimensions ? asked.embeddedAccountId : undefined };
  if (asked.knownOn) return eventsKnownSql(read, asked.knownOn, reading, bindings);
  const of = { service: filterOf(asked, 'service'), account: filterOf(asked, 'account') };
  return eventsSql(read, of, reading, bindings);
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
  const withDimensions = [...groups, ...filters.map(([key]) => key)].some(
    (key) => 'dimension' in key,
  );
  const read = ranges.filter(({ source }) => source === 'facts');
  const stored = ranges.filter(({ source }) => source !== 'facts');
  const keys = groups.map((key, index) => `${valueSql(key, asked, bindings)} as key${index}`);
  const names = groups.map((_key, index) => `key${index}`);
  const isByAttribute = groups.some((key) => 'name' in key && key.name === 'attribute');
  const isOfAttribute = filterOf(asked, 'attribute') !== undefined;
  const withRows = isByAttribute || isOfAttribute;
  const partConditions = ofParts.join(' and ') || 'true';
  const grouping = { ofRows: withRows, keys, names, conditions: partConditions, bucket };
  const kept = stored.map((range) => keptGroupsSql(range, grouping, bindings));
  const hasRest = isByAttribute && !isOfAttribute;
  const sources = stored.flatMap((range) => [
    ...(hasRest ? [keptRestSql(range, partConditions, bindings)] : []),
    waitingPartsSql(range, bindings),
  ]);
  if (read.length > 0) {
    sources.push(`
    select part.event_id as source_id, 0::bigint as delta_id, part.event_at as start_at, 1::bigint as events, ${partColumns},
      part.quantity, part.amount, part.dimensions
    from part`);
  }
  const by = ['bucket', ...names, 'currency'].join(', ');
  const order = ['bucket', ...names.map((name) => `${name} nulls last`), 'currency'].join(', ');
  // A group for each account: one after the other takes half as long as sums of all of them at once.
  const inOrder = stored.some(({ source }) => source === 'day') ? `order by ${order} offset 0` : '';
  const sql = `
  with ${readEventsSql(read, asked, { withRows, withDimensions }, bindings)}
  part_of as (${[none, ...sources].join(' union all ')}),
  counted as (${countedSql(isByAttribute, isOfAttribute)}),
  keyed as (
    select ${[...keys, `${bucketSql(bucket, 'start_at')} as bucket`].join(', ')}, currency, source_id, delta_id, start_at, events,
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
    select ${by}, sum(events) as events, sum(quantity) as quantity, sum(amount) as amount
    from (
      select * from (
        ${[`select ${by}, events, quantity, amount from by_source`, ...kept].join(' union all ')}
      ) as each ${inOrder}
    ) as each
    group by ${by}
    having sum(events) <> 0 or sum(quantity) <> 0 or sum(amount) <> 0
  ),
  page as (select * from summed order by ${order} limit ${bindings.of(limit)} offset ${bindings.of(offset)})
  select exists (
    select from usage_total_rebuild where tenant_id = :tenantId
  ) as "isBeingMade", ${withDimensions ? '(select count(*) from event where is_gone)::integer' : '0'} as "withoutMessage", (select count(*) from summed)::integer as total, bucket, currency,
    events::text, quantity::text, amount::text ${names.map((name) => `, ${name}::text as "${name}"`).join('')}
  from (select) as always left join page on true
  order by ${order}`;
  return { sql, bindings: bindings.values };
}
