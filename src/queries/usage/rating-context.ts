import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { parseLong } from '../../kernel/text/parse-long.js';
import type {
  AccountFacts,
  DiscountFacts,
  LineFacts,
  RatingContext,
  RecurringService,
  UsageEvent,
} from '../../rating/index.js';
import { discountsOf } from './discount-facts.js';
import { weighFacts } from './facts-weight.js';
import { sqlRows } from '../../models/db/sql-rows.js';

/**
 * The facts of a record at a version; the version is incremented with each change of the record or
 * its parts.
 */
interface Versioned<Facts> {
  readonly version: string;
  readonly facts: Facts;
}

/** A service as rating and billing see it. */
export interface BilledService extends RecurringService {
  readonly label: string | null;
  readonly chargeFrequency: string | null;
  readonly billingFrequency: string | null;
}

interface AccountWithLines {
  readonly account: AccountFacts;
  readonly lines: readonly LineFacts[];
  /** Null: there are none. */
  readonly adjustments: readonly DiscountFacts[] | null;
}

/** Attributes of `owner`, a service or a line, as JSON. */
export const attributesOf = (owner: string, column: string): string => `
  coalesce((
    select json_agg(json_build_object(
      'id', attribute.id, 'name', attribute.name, 'kind', attribute.kind,
      'dataType', attribute.dimension_data_type, 'isMeter', attribute.is_meter_dimension,
      'resetFrequency', attribute.meter_reset_frequency, 'aggregation', attribute.aggregation,
      'uniqueDimension', attribute.unique_dimension,
      'isProration', attribute.is_proration, 'value', attribute.dimension_val_text
    ) order by attribute.position, attribute.id)
    from attribute
    where attribute.tenant_id = ${owner}.tenant_id and attribute.${column} = ${owner}.id
      and attribute.deleted_at is null
  ), '[]')`;

/** Every version of every card of `owner` with its rows, as JSON. */
export const cardsOf = (owner: string, column: string): string => `
  coalesce((
    select json_agg(json_build_object(
      'id', card.id, 'currency', card.currency, 'versionNo', card.version_no,
      'fromDate', card.from_date, 'toDate', card.to_date,
      'rows', coalesce((
        select json_agg(json_build_object(
          'id', line.id, 'attributeId', line.attribute_id, 'attributeName', line.attribute_name,
          'label', line.label, 'usageType', line.usage_type,
          'billingAccountId', line.billing_account_id, 'priceMethod', line.price_method,
          'rates', line.rates,
          'attributeValues', coalesce((
            select json_agg(json_build_object(
              'name', condition ->> 'attributeName', 'value', condition ->> 'attributeValue'
            )) from jsonb_array_elements(line.attribute_values) as condition
          ), '[]')
        ) order by line.position)
        from rate_card_row as line
        where line.tenant_id = card.tenant_id and line.rate_card_id = card.id
          and line.deleted_at is null
      ), '[]')
    ))
    from rate_card as card
    where card.tenant_id = ${owner}.tenant_id and card.${column} = ${owner}.id
      and card.deleted_at is null
  ), '[]')`;

/** Who bears the charges of a line, as JSON. */
export const sharesOf = (line: string): string => `
  coalesce((
    select json_agg(json_build_object(
      'accountId', share.account_id, 'weight', share.weight::text
    ) order by share.account_id)
    from account_share as share
    where share.tenant_id = ${line}.tenant_id and share.contract_service_id = ${line}.id
  ), '[]')`;

/** One statement for each type, so that version and facts are of the same snapshot. */
const servicesSql = `
  select service.id, service.rating_version as "version", json_build_object(
    'id', service.id, 'name', service.name, 'code', service.code,
    'isActive', service.service_status = 'Active', 'currency', service.currency,
    'label', service.label, 'serviceType', service.service_type,
    'chargeFrequency', service.charge_frequency, 'billingFrequency', service.billing_frequency,
    'attributes', ${attributesOf('service', 'service_id')},
    'cards', ${cardsOf('service', 'service_id')},
    'logics', coalesce((
      select json_agg(json_build_object(
        'id', logic.id, 'seqNo', logic.seq_no, 'name', logic.name,
        'chargeType', logic.charge_type, 'usageType', logic.usage_type,
        'priceOutput', logic.price_output,
        'steps', coalesce((
          select json_agg(json_build_object(
            'name', step ->> 'name', 'label', step ->> 'label', 'formula', step ->> 'formula'
          ) order by position)
          from jsonb_array_elements(logic.steps) with ordinality as steps (step, position)
        ), '[]')
      ) order by logic.seq_no, logic.id)
      from pricing_logic as logic
      where logic.tenant_id = service.tenant_id and logic.service_id = service.id
        and logic.deleted_at is null
    ), '[]')
  ) as "facts"
  from service
  where service.tenant_id = ? and service.id = any(?::uuid[]) and service.deleted_at is null`;

const accountsSql = `
  select account.id, account.rating_version as "version", json_build_object(
    'account', json_build_object(
      'id', account.id, 'externalId', account.external_id,
      'isActive', account.status = 'Active', 'defaultCurrency', account.default_currency
    ),
    'lines', coalesce((
      select json_agg(json_build_object(
        'id', line.id, 'lineageId', coalesce(line.lineage_id, line.id),
        'contractId', contract.id, 'contractNumber', contract.number,
        'contractCurrency', contract.currency, 'serviceId', line.service_id,
        'serviceInstanceId', line.service_instance_id,
        'startDate', coalesce(line.start_date, contract.start_date),
        'endDate', least(line.end_date, contract.end_date),
        'terminationDate', line.termination_date,
        'attributes', ${attributesOf('line', 'contract_service_id')},
        'cards', ${cardsOf('line', 'contract_service_id')},
        'shares', ${sharesOf('line')}
      ))
      from contract join contract_service as line
        on line.tenant_id = contract.tenant_id and line.contract_id = contract.id
      where contract.tenant_id = account.tenant_id and contract.master_account_id = account.id
        and contract.deleted_at is null and line.deleted_at is null
    ), '[]'),
    'adjustments', ${discountsOf('account.id', 'account.tenant_id')}
  ) as "facts"
  from account
  where account.tenant_id = ? and account.id = any(?::uuid[]) and account.deleted_at is null`;

/**
 * The present versions of the records that a batch references: two index lookups in one statement.
 */
const versionsSql = `
  select 'account' as "type", external_id as "key", id, rating_version as "version" from account
  where tenant_id = ? and external_id = any(?::text[]) and deleted_at is null
  union all
  select 'service', id::text, id, rating_version from service
  where tenant_id = ? and id = any(?::uuid[]) and deleted_at is null`;

/**
 * Memory for the cached facts of all tenants, in estimated bytes. Facts larger than
 * `entryMemoryMax` are loaded for their batch and not cached, so that one account cannot evict all
 * others (docs/decisions/0189-weight-of-remembered-facts.md).
 */
const accountMemoryMax = 128 * 1024 * 1024;
const serviceMemoryMax = 48 * 1024 * 1024;
const entryMemoryMax = serviceMemoryMax / 2;

const accounts = new LRUCache<string, Versioned<AccountWithLines>>({
  maxSize: accountMemoryMax,
  maxEntrySize: entryMemoryMax,
});
const services = new LRUCache<string, Versioned<BilledService>>({
  maxSize: serviceMemoryMax,
  maxEntrySize: entryMemoryMax,
});

interface VersionRow {
  readonly type: 'account' | 'service';
  readonly key: string;
  readonly id: string;
  readonly version: string;
}

type Cache<Facts> = LRUCache<string, Versioned<Facts>>;

interface Source<Facts extends object> {
  readonly cache: Cache<Facts>;
  readonly sql: string;
}

const accountSource: Source<AccountWithLines> = {
  cache: accounts,
  sql: accountsSql,
};
const serviceSource: Source<BilledService> = {
  cache: services,
  sql: servicesSql,
};

/**
 * Maximum JSON bytes of uncached accounts, and of uncached services, that one batch loads. Events
 * beyond it are left to another batch (docs/decisions/0282); the first record is loaded whatever
 * its size.
 */
const batchBytesMax = 48 * 1024 * 1024;
/** Records that one statement loads: facts beyond the byte limit are assembled in vain. */
const recordsOfStatement = 50;

/** SQL for the facts of records, in the order of the ids, up to a number of bytes. */
const withinSql = (sql: string): string => `
  with found as materialized (${sql})
  select id, version, bytes::integer as "bytes", case when before < ? then facts::text end as "facts"
  from (
    select *, sum(bytes) over (order by place) - bytes as before
    from (
      select *, octet_length(facts::text) as bytes, array_position(?::uuid[], id) as place from found
    ) as measured
  ) as summed
  order by place`;

interface LoadedRow {
  readonly id: string;
  readonly version: string;
  readonly bytes: number;
  /** JSON; null where it is beyond the limit. */
  readonly facts: string | null;
}

/** Facts of these records by id: null beyond the byte limit, missing where there is no record. */
async function loadChanged<Facts extends object>(
  db: Knex,
  tenantId: string,
  { cache, sql }: Source<Facts>,
  ids: readonly string[],
  bytesMax: number,
): Promise<Map<string, Facts | null>> {
  const loaded = new Map<string, Facts | null>();
  let bytes = 0;
  for (let at = 0; at < ids.length; at += recordsOfStatement) {
    const some = ids.slice(at, at + recordsOfStatement);
    if (bytes >= bytesMax) {
      for (const id of some) loaded.set(id, null);
      continue;
    }
    const rows = await sqlRows<LoadedRow>(db, withinSql(sql), [
      tenantId,
      some,
      bytesMax - bytes,
      some,
    ]);
    for (const { id, version, facts: text, bytes: own } of rows) {
      const facts = text === null ? null : await parseLong<Facts>(text);
      bytes += own;
      loaded.set(id, facts);
      if (facts === null) continue;
      const size = await weighFacts(facts, entryMemoryMax);
      cache.set(`${tenantId}/${id}`, { version, facts }, { size });
    }
  }
  return loaded;
}

/**
 * The facts of the present versions by key, from the cache if the version is unchanged; null for
 * those left to another batch.
 */
async function loadFacts<Facts extends object>(
  db: Knex,
  tenantId: string,
  source: Source<Facts>,
  present: readonly VersionRow[],
  bytesMax = batchBytesMax,
): Promise<Map<string, Facts | null>> {
  const byId = new Map<string, Facts | null>();
  const changed: string[] = [];
  for (const { id, version } of present) {
    const known = source.cache.get(`${tenantId}/${id}`);
    if (known?.version === version) byId.set(id, known.facts);
    else changed.push(id);
  }
  for (const [id, facts] of await loadChanged(db, tenantId, source, changed, bytesMax)) {
    byId.set(id, facts);
  }
  const byKey = new Map<string, Facts | null>();
  for (const { key, id } of present) {
    const facts = byId.get(id);
    if (facts !== undefined) byKey.set(key, facts);
  }
  return byKey;
}

/**
 * Loads the facts that rating needs for events: one or two statements if nothing changed since the
 * last batch, and never older than the versions now in the database. Undefined for events left to
 * another batch, because of the byte limit; never for the first event. With a limit of 0 only what is
 * in the cache is given.
 */
export async function loadRatingContexts(
  db: Knex,
  tenantId: string,
  events: Iterable<Pick<UsageEvent, 'accountRef' | 'serviceId'>>,
  bytesMax = batchBytesMax,
): Promise<(event: UsageEvent) => RatingContext | undefined> {
  const accountRefs = new Set<string>();
  const serviceIds = new Set<string>();
  for (const event of events) {
    accountRefs.add(event.accountRef);
    serviceIds.add(event.serviceId);
  }
  let accountsByRef = new Map<string, AccountWithLines | null>();
  let servicesById = new Map<string, BilledService | null>();
  if (accountRefs.size > 0) {
    const rows = await sqlRows<VersionRow>(db, versionsSql, [
      tenantId,
      [...accountRefs],
      tenantId,
      [...serviceIds],
    ]);
    // In the order of the events: those at the beginning are loaded first.
    const inOrder = (type: VersionRow['type'], keys: Iterable<string>): VersionRow[] => {
      const byKey = new Map(rows.flatMap((row) => (row.type === type ? [[row.key, row]] : [])));
      return [...keys].flatMap((key) => byKey.get(key) ?? []);
    };
    const load = <Facts extends object>(source: Source<Facts>, present: readonly VersionRow[]) =>
      loadFacts(db, tenantId, source, present, bytesMax);
    accountsByRef = await load(accountSource, inOrder('account', accountRefs));
    servicesById = await load(serviceSource, inOrder('service', serviceIds));
  }
  return (event) => {
    const found = accountsByRef.get(event.accountRef);
    const service = servicesById.get(event.serviceId);
    if (found === null || service === null) return undefined;
    return {
      account: found?.account ?? null,
      service: service ?? null,
      lines: found?.lines ?? [],
      adjustments: found?.adjustments ?? null,
    };
  };
}

/** Bytes of JSON of the services that one account's lines may need together. */
const billedBytesMax = 256 * 1024 * 1024;

/**
 * The services of these ids in their present state; deleted ones are missing. Undefined if they
 * exceed the memory limit together.
 */
export async function loadServices(
  db: Knex,
  tenantId: string,
  ids: readonly string[],
): Promise<Map<string, BilledService> | undefined> {
  if (ids.length === 0) return new Map();
  const rows = await sqlRows<VersionRow>(
    db,
    `select 'service' as "type", id::text as "key", id, rating_version as "version" from service
     where tenant_id = ? and id = any(?::uuid[]) and deleted_at is null`,
    [tenantId, [...ids]],
  );
  const found = new Map<string, BilledService>();
  for (const [id, service] of await loadFacts(db, tenantId, serviceSource, rows, billedBytesMax)) {
    if (service === null) return undefined;
    found.set(id, service);
  }
  return found;
}
