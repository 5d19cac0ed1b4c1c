import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { parseJsonInPortions } from '../../kernel/text/json-portions.js';
import type {
  AccountFacts,
  LineFacts,
  RatingContext,
  RecurringService,
  UsageEvent,
} from '../../rating/index.js';
import { weighFacts } from './facts-weight.js';
import { sqlRows } from '../../models/db/sql-rows.js';

/** The facts of a record as of a version; versions rise with every change of the record or a part. */
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
}

/** Attributes of `owner`, a service or a line, as JSON. */
export const attributesOf = (owner: string, column: string): string => `
  coalesce((
    select json_agg(json_build_object(
      'id', attribute.id, 'name', attribute.name, 'kind', attribute.kind,
      'dataType', attribute.dimension_data_type, 'isMeter', attribute.is_meter_dimension,
      'resetFrequency', attribute.meter_reset_frequency,
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

/** One statement each, so that version and facts are of one moment. */
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
    ), '[]')
  ) as "facts"
  from account
  where account.tenant_id = ? and account.id = any(?::uuid[]) and account.deleted_at is null`;

/** The present versions of what a batch names: two cheap lookups by index, in one statement. */
const versionsSql = `
  select 'account' as "type", external_id as "key", id, rating_version as "version" from account
  where tenant_id = ? and external_id = any(?::text[]) and deleted_at is null
  union all
  select 'service', id::text, id, rating_version from service
  where tenant_id = ? and id = any(?::uuid[]) and deleted_at is null`;

/**
 * What a process remembers of all tenants, in about bytes of memory.
 * Facts that are larger than `entryMemoryMax` are loaded for their batch and not kept, so that one account
 * cannot take the place of all others (docs/decisions/0189-weight-of-remembered-facts.md).
 */
const accountMemoryMax = 128 * 1024 * 1024;
const serviceMemoryMax = 48 * 1024 * 1024;
const entryMemoryMax = serviceMemoryMax / 2;

const accounts = new LRUCache<string, Versioned<AccountWithLines>>({
  maxSize: accountMemoryMax,
  maxEntrySize: entryMemoryMax,
  sizeCalculation: ({ facts }) => weighFacts(facts, entryMemoryMax),
});
const services = new LRUCache<string, Versioned<BilledService>>({
  maxSize: serviceMemoryMax,
  maxEntrySize: entryMemoryMax,
  sizeCalculation: ({ facts }) => weighFacts(facts, entryMemoryMax),
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
 * What a batch loads of accounts, and of services, that are not remembered: about the bytes of their JSON.
 * What is beyond it is left to another batch (docs/decisions/0282); the first is loaded however large.
 */
const batchBytesMax = 48 * 1024 * 1024;
/** Records that one statement loads: what is beyond the limit is put together for nothing. */
const recordsOfStatement = 50;

/** Facts of records as far as they are within a number of bytes, in the order of the ids. */
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

/** Longer texts are parsed in portions. */
const parsedAtOnce = 256 * 1024;

/** Facts as PostgreSQL wrote them; long ones leave the thread to others meanwhile. */
export async function parseFacts<Facts>(text: string): Promise<Facts> {
  if (text.length > parsedAtOnce) {
    return (await parseJsonInPortions(text, Number.MAX_SAFE_INTEGER)) as Facts;
  }
  return JSON.parse(text) as Facts;
}

/** Facts of these records by id; null where they are beyond the limit, missing where there is no record. */
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
      const facts = text === null ? null : await parseFacts<Facts>(text);
      bytes += own;
      loaded.set(id, facts);
      if (facts !== null) cache.set(`${tenantId}/${id}`, { version, facts });
    }
  }
  return loaded;
}

/**
 * The facts of the present versions by key, remembered ones where the version still is the same; null
 * where they are left to another batch.
 */
async function load<Facts extends object>(
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
 * What rating has to know about events: one or two statements when nothing changed since the last
 * time, and never older than the versions in the database now. Undefined of events that are left to
 * another batch, as this one knows enough; never of the first.
 */
export async function loadRatingContexts(
  db: Knex,
  tenantId: string,
  events: Iterable<UsageEvent>,
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
    accountsByRef = await load(db, tenantId, accountSource, inOrder('account', accountRefs));
    servicesById = await load(db, tenantId, serviceSource, inOrder('service', serviceIds));
  }
  return (event) => {
    const found = accountsByRef.get(event.accountRef);
    const service = servicesById.get(event.serviceId);
    if (found === null || service === null) return undefined;
    return { account: found?.account ?? null, service: service ?? null, lines: found?.lines ?? [] };
  };
}

/** Bytes of JSON of the services that one account's lines may need together. */
const billedBytesMax = 256 * 1024 * 1024;

/**
 * The services of these ids, as they are now; those that were deleted are missing. Undefined where they
 * are more than may be in memory together.
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
  for (const [id, service] of await load(db, tenantId, serviceSource, rows, billedBytesMax)) {
    if (service === null) return undefined;
    found.set(id, service);
  }
  return found;
}
