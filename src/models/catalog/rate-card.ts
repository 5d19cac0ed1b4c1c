import { raw } from 'objection';
import type { Knex } from 'knex';
import type { CatalogOwner } from './attribute.js';
import { RateCardRow } from './rate-card-row.js';
import { arrayLiteral } from '../../kernel/text/postgres-array.js';
import { readRecords } from '../db/read-records.js';
import { sqlRows } from '../db/sql-rows.js';
import { BillingRecord } from '../db/tenant-model.js';

type OwnerColumn = 'service_id' | 'contract_service_id';

/** Whose cards are looked for. */
export type CardOwners =
  { readonly serviceIds: readonly string[] } | { readonly contractServiceIds: readonly string[] };

/** One owner as several are named. */
export const ownersOf = (owner: CatalogOwner): CardOwners =>
  'serviceId' in owner
    ? { serviceIds: [owner.serviceId] }
    : { contractServiceIds: [owner.contractServiceId] };

/**
 * SQL: whether a version is in force on a day or later: none that comes after it has begun by then.
 * Its binding is the day.
 */
export const isNotOver = (card: string): string => `not exists (
  select from rate_card as later
  where later.tenant_id = ${card}.tenant_id and later.deleted_at is null
    and later.currency = ${card}.currency and later.from_date <= ?::date
    and (later.service_id = ${card}.service_id
      or later.contract_service_id = ${card}.contract_service_id)
    and (later.from_date, later.version_no) > (${card}.from_date, ${card}.version_no))`;

/** Whether a version has held and holds no more on a day, for which `versionsOn` selected it. */
export const isOverOn = (
  day: string,
  { fromDate, isInForce }: Pick<RateCard, 'fromDate' | 'isInForce'>,
): boolean => !isInForce && fromDate <= day;

/** SQL: all versions of the card that the version `rate_card` is of. */
const sameCard = (column: OwnerColumn): string => `
  from rate_card as version
  where version.tenant_id = rate_card.tenant_id and version.deleted_at is null
    and version.${column} = rate_card.${column} and version.currency = rate_card.currency`;

/** SQL: the last day of a version, which has at least one; null for the last version. */
const lastDay = (column: OwnerColumn): string => `(
  select greatest(version.from_date - 1, rate_card.from_date) ${sameCard(column)}
    and (version.from_date, version.version_no) > (rate_card.from_date, rate_card.version_no)
  order by version.from_date, version.version_no limit 1)`;

/** SQL: whether a version is in force on a day (spec/rating.md R16, R17). Its binding is the day. */
const isInForce = (column: OwnerColumn): string => `rate_card.id = coalesce(
  (select version.id ${sameCard(column)} and version.from_date <= ?::date
   order by version.from_date desc, version.version_no desc limit 1),
  (select version.id ${sameCard(column)}
   order by version.from_date, version.version_no desc limit 1))`;

const rowsSql = `
  select id, rate_card_id, position, attribute_id, attribute_name, label, description,
    dynamic_description, tax_code, usage_type, billing_account_id, price_method, rates, attribute_values
  from rate_card_row
  where tenant_id = $1 and rate_card_id = any($2::uuid[]) and deleted_at is null
  order by rate_card_id, position`;

/** One version of the prices of a service, or of a contract line, in one currency. */
export class RateCard extends BillingRecord {
  static override tableName = 'rate_card';

  declare serviceId: string | null;
  declare contractServiceId: string | null;
  declare currency: string;
  declare versionNo: number;
  /** Kept for processes of the version before (docs/decisions/0370), as is `toDate`: see `isInForce`. */
  declare isCurrent: boolean;
  declare fromDate: string;
  declare toDate: string | null;
  declare rows?: RateCardRow[];
  /** Whether it is in force on the day that was asked for; no column, `versionsOn` selects it. */
  declare isInForce: boolean;
  /** The last day, inclusive, of a version that another one follows; selected by `versionsOn`. */
  declare lastDay: string | null;

  /** Gives cards their rows, of which each may have thousands, in their order, and answers with the cards. */
  static async withRows<C extends RateCard>(
    db: Knex,
    tenantId: string,
    cards: readonly C[],
  ): Promise<readonly C[]> {
    if (cards.length === 0) return cards;
    const rowsOf = new Map(cards.map(({ id }) => [id, [] as RateCardRow[]]));
    const rows = await readRecords(RateCardRow, db, tenantId, rowsSql, [[...rowsOf.keys()]]);
    for (const row of rows) rowsOf.get(row.rateCardId)?.push(row);
    for (const card of cards) card.rows = rowsOf.get(card.id) ?? [];
    return cards;
  }

  /** The versions of these owners' cards, each with what a day makes of it. */
  static versionsOn(db: Knex, tenantId: string, day: string, owners: CardOwners) {
    const column = 'serviceIds' in owners ? 'service_id' : 'contract_service_id';
    const ids = 'serviceIds' in owners ? owners.serviceIds : owners.contractServiceIds;
    return RateCard.query(db)
      .forTenant(tenantId)
      .existing()
      .whereRaw(`rate_card.${column} = any(?::uuid[])`, [[...ids]])
      .select(
        'rate_card.*',
        raw(isInForce(column), [day]).as('isInForce'),
        raw(lastDay(column)).as('lastDay'),
      );
  }

  /**
   * The highest number of each card of an owner, by currency. Versions count that were removed one by
   * one, but not those of a card that was deleted as a whole.
   */
  static async lastNumbers(
    db: Knex,
    tenantId: string,
    owner: CatalogOwner,
    currencies: readonly string[],
  ): Promise<ReadonlyMap<string, number>> {
    const [column, id] =
      'serviceId' in owner
        ? ['service_id', owner.serviceId]
        : ['contract_service_id', owner.contractServiceId];
    const rows = await sqlRows<{ currency: string; last: number }>(
      db,
      `with card as (
         select currency, min(created_at) as created_at from rate_card
         where tenant_id = :tenantId and ${column} = :id and currency = any(:currencies::text[])
           and deleted_at is null
         group by currency
       )
       select currency, max(version.version_no) as last
       from card join rate_card as version using (currency)
       where version.tenant_id = :tenantId and version.${column} = :id
         and version.created_at >= card.created_at
       group by currency`,
      { tenantId, id, currencies: arrayLiteral(currencies) },
    );
    return new Map(rows.map(({ currency, last }) => [currency, last]));
  }

  /** Of each card of these owners the version that is in force on a day, by currency. */
  static inForceOn(db: Knex, tenantId: string, day: string, owners: CardOwners) {
    const column = 'serviceIds' in owners ? 'service_id' : 'contract_service_id';
    return RateCard.versionsOn(db, tenantId, day, owners)
      .whereRaw(isInForce(column), [day])
      .orderBy('currency');
  }
}
