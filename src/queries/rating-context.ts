import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import type {
  AccountFacts,
  LineFacts,
  RatingContext,
  RecurringService,
  UsageEvent,
} from '../rating/index.js';
import { weighFacts } from './facts-weight.js';

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
  select service.rating_version as "version", json_build_object(
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
  select account.rating_version as "version", json_build_object(
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
const accountMemoryMax = 256 * 1024 * 1024;
const serviceMemoryMax = 96 * 1024 * 1024;
const entryMemoryMax = serviceMemoryMax / 4;

const accounts = new LRUCache<string, Versioned<AccountWithLines>>({
  ...{ maxSize: accountMemoryMax, maxEntrySize: entryMemoryMax },
  sizeCalculation: ({ facts }) => weighFacts(facts, entryMemoryMax),
});
const services = new LRUCache<string, Versioned<BilledService>>({
  ...{ maxSize: serviceMemoryMax, maxEntrySize: entryMemoryMax },
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
  readonly idOf: (facts: Facts) => string;
}

const accountSource: Source<AccountWithLines> = {
  cache: accounts,
  sql: accountsSql,
  idOf: ({ account }) => account.id,
};
const serviceSource: Source<BilledService> = {
  cache: services,
  sql: servicesSql,
  idOf: ({ id }) => id,
};

/** The facts of the present versions by key: remembered ones where the version still is the same. */
async function load<Facts extends object>(
  db: Knex,
  tenantId: string,
  { cache, sql, idOf }: Source<Facts>,
  present: readonly VersionRow[],
): Promise<Map<string, Facts>> {
  const byId = new Map<string, Facts>();
  const changed: string[] = [];
  for (const { id, version } of present) {
    const known = cache.get(`${tenantId}/${id}`);
    if (known?.version === version) byId.set(id, known.facts);
    else changed.push(id);
  }
  if (changed.length > 0) {
    const { rows } = await db.raw<{ rows: Versioned<Facts>[] }>(sql, [tenantId, changed]);
    for (const row of rows) {
      byId.set(idOf(row.facts), row.facts);
      cache.set(`${tenantId}/${idOf(row.facts)}`, row);
    }
  }
  const byKey = new Map<string, Facts>();
  for (const { key, id } of present) {
    const facts = byId.get(id);
    if (facts) byKey.set(key, facts);
  }
  return byKey;
}

/**
 * What rating has to know about events: one or two statements when nothing changed since the last
 * time, and never older than the versions in the database now.
 */
export async function loadRatingContexts(
  db: Knex,
  tenantId: string,
  events: Iterable<UsageEvent>,
): Promise<(event: UsageEvent) => RatingContext> {
  const accountRefs = new Set<string>();
  const serviceIds = new Set<string>();
  for (const event of events) {
    accountRefs.add(event.accountRef);
    serviceIds.add(event.serviceId);
  }
  let accountsByRef = new Map<string, AccountWithLines>();
  let servicesById = new Map<string, BilledService>();
  if (accountRefs.size > 0) {
    const { rows } = await db.raw<{ rows: VersionRow[] }>(versionsSql, [
      tenantId,
      [...accountRefs],
      tenantId,
      [...serviceIds],
    ] as unknown as string[]);
    const ofType = (type: VersionRow['type']) => rows.filter((row) => row.type === type);
    accountsByRef = await load(db, tenantId, accountSource, ofType('account'));
    servicesById = await load(db, tenantId, serviceSource, ofType('service'));
  }
  return (event) => {
    const found = accountsByRef.get(event.accountRef);
    return {
      account: found?.account ?? null,
      service: servicesById.get(event.serviceId) ?? null,
      lines: found?.lines ?? [],
    };
  };
}

/** The services of these ids, as they are now; those that were deleted are missing. */
export async function loadServices(
  db: Knex,
  tenantId: string,
  ids: readonly string[],
): Promise<Map<string, BilledService>> {
  if (ids.length === 0) return new Map();
  const { rows } = await db.raw<{ rows: VersionRow[] }>(
    `select 'service' as "type", id::text as "key", id, rating_version as "version" from service
     where tenant_id = ? and id = any(?::uuid[]) and deleted_at is null`,
    [tenantId, [...ids]],
  );
  return load(db, tenantId, serviceSource, rows);
}
