import type { Knex } from 'knex';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import type { CatalogOwner } from '../../models/catalog/attribute.js';
import { sqlRows } from '../../models/db/sql-rows.js';

/*
 * Maximum size of one service, account or contract. Its parts are read together: by requests for
 * the record, and by rating, which loads every version of every price (docs/decisions/0261).
 * Checked after a change, in its transaction; changes that remove something are not checked.
 */

const mebibyte = 1024 * 1024;

/** Attributes of a service, of all kinds. */
const attributesMax = 2_500;
const logicsMax = 100;
/**
 * Maximum JSON of a service in an answer, today or later: attributes, current or coming cards, and
 * pricing logic.
 */
const serviceBytesMax = 16 * mebibyte;
/** Its cards with all their versions. */
const versionsBytesMax = 64 * mebibyte;

/** Lines of all contracts of an account. */
const linesMax = 20_000;
/** These lines, their attributes, and all versions of their exception cards. */
const linesBytesMax = 32 * mebibyte;

/** Addresses of an account. */
const addressesMax = 1_000;

/** Tax rates of a tenant: a billing run reads them all. */
const taxRatesMax = 1_000;

/** Estimated JSON bytes of a record without its texts. */
const recordBytes = 300;

type Row = Readonly<Record<string, string>>;

async function findRow(trx: Knex.Transaction, sql: string, bindings: Row): Promise<Row> {
  const rows = await sqlRows<Row>(trx, sql, bindings);
  return rows[0] ?? {};
}

/** 409: there are more of something than there may be. */
function requireAtMost(found: string | undefined, most: number, field: string, what: string): void {
  if (Number(found ?? 0) <= most) return;
  throw problem.conflict(`${what}: at most ${most}.`, { field });
}

/** 409: something takes more bytes than it may. */
function requireBytes(found: string | undefined, most: number, field: string, what: string): void {
  if (Number(found ?? 0) <= most) return;
  throw problem.conflict(`${what}: at most ${most / mebibyte} MiB as JSON.`, { field });
}

/** The bytes of a row of a card. */
const cardRowBytes = `${recordBytes} + octet_length(line.rates::text)
  + octet_length(line.attribute_values::text) + coalesce(octet_length(line.label), 0)
  + coalesce(octet_length(line.description), 0)
  + coalesce(octet_length(line.dynamic_description), 0)`;

const serviceSql = `
  with version as (
    select ${recordBytes} + rows.bytes as bytes, card.currency,
      coalesce(lead(card.from_date) over (
        partition by card.currency order by card.from_date, card.version_no
      ) > :today::date, true) as is_not_over
    from rate_card as card cross join lateral (
      select coalesce(sum(${cardRowBytes}), 0) as bytes from rate_card_row as line
      where line.tenant_id = card.tenant_id and line.rate_card_id = card.id
        and line.deleted_at is null
    ) as rows
    where card.tenant_id = :tenantId and card.service_id = :id and card.deleted_at is null
  ), largest as (
    select sum(bytes) as versions, max(bytes) filter (where is_not_over) as current
    from version group by currency
  ), cards as (
    select sum(versions) as versions, sum(current) as current from largest
  ), attributes as (
    select count(*) as count, sum(${recordBytes} + octet_length(dim_values::text)) as bytes
    from attribute where tenant_id = :tenantId and service_id = :id and deleted_at is null
  ), logics as (
    select count(*) as count, sum(${recordBytes} + octet_length(steps::text)) as bytes
    from pricing_logic where tenant_id = :tenantId and service_id = :id and deleted_at is null
  )
  select attributes.count as attributes, logics.count as logics,
    coalesce(cards.versions, 0) as versions,
    coalesce(cards.current, 0) + coalesce(attributes.bytes, 0) + coalesce(logics.bytes, 0) as whole
  from cards, attributes, logics`;

/** 409: a service has more than one may have. Of a contract line see `requireAccountFits`. */
export async function requireServiceFits(
  trx: Knex.Transaction,
  { tenantId, now }: Scope,
  owner: CatalogOwner,
): Promise<void> {
  if (!('serviceId' in owner)) return;
  const today = utcDate(now());
  const found = await findRow(trx, serviceSql, { tenantId, today, id: owner.serviceId });
  requireAtMost(found['attributes'], attributesMax, 'name', 'Attributes of a service');
  requireAtMost(found['logics'], logicsMax, 'name', 'Pricing logics of a service');
  requireBytes(found['whole'], serviceBytesMax, 'rateCards', 'A service with its current prices');
  const what = 'Prices of a service with all their versions';
  requireBytes(found['versions'], versionsBytesMax, 'rateCards', what);
}

const accountSql = `
  with lines as materialized (
    select line.tenant_id, line.id,
      2 * ${recordBytes} + coalesce(octet_length(line.dimension_values::text), 0)
        + coalesce(octet_length(line.account_map::text), 0) as bytes
    from contract join contract_service as line
      on line.tenant_id = contract.tenant_id and line.contract_id = contract.id
    where contract.tenant_id = :tenantId and contract.master_account_id = :id
      and contract.deleted_at is null and line.deleted_at is null
  ), attributes as (
    select sum(${recordBytes} + octet_length(dim_values::text)) as bytes
    from lines join attribute on attribute.tenant_id = lines.tenant_id
      and attribute.contract_service_id = lines.id and attribute.deleted_at is null
  ), cards as (
    select sum(${cardRowBytes}) as bytes
    from lines join rate_card as card on card.tenant_id = lines.tenant_id
      and card.contract_service_id = lines.id and card.deleted_at is null
    join rate_card_row as line on line.tenant_id = card.tenant_id
      and line.rate_card_id = card.id and line.deleted_at is null
  )
  select (select count(*) from lines) as lines,
    (select coalesce(sum(bytes), 0) from lines) + coalesce(attributes.bytes, 0)
      + coalesce(cards.bytes, 0) as whole
  from attributes, cards`;

/** 409: the contracts of an account have more lines, or lines with more, than they may have. */
export async function requireAccountFits(
  trx: Knex.Transaction,
  { tenantId }: Scope,
  accountId: string,
): Promise<void> {
  const found = await findRow(trx, accountSql, { tenantId, id: accountId });
  requireAtMost(found['lines'], linesMax, 'services', 'Services of all contracts of an account');
  const what = 'Services of all contracts of an account, with their attributes and prices';
  requireBytes(found['whole'], linesBytesMax, 'services', what);
}

/** 409: an account has more addresses than it may have. */
export async function requireAddressesFit(
  trx: Knex.Transaction,
  { tenantId }: Scope,
  accountId: string,
): Promise<void> {
  const sql = `select count(*) as count from address
    where tenant_id = :tenantId and account_id = :id and deleted_at is null`;
  const { count } = await findRow(trx, sql, { tenantId, id: accountId });
  requireAtMost(count, addressesMax, 'addresses', 'Addresses of an account');
}

/** 409: a tenant has more tax rates than it may have. */
export async function requireTaxRatesFit(
  trx: Knex.Transaction,
  { tenantId }: Scope,
): Promise<void> {
  const sql = `select count(*) as count from tax_rate
    where tenant_id = :tenantId and deleted_at is null`;
  const { count } = await findRow(trx, sql, { tenantId });
  requireAtMost(count, taxRatesMax, 'code', 'Tax rates of a tenant');
}
