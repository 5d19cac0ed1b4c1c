import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { Portions } from '../../kernel/portions.js';
import { problem, type Problem } from '../../kernel/problem.js';
import { referenceData } from '../../kernel/reference-data.js';
import { utcDate } from '../../kernel/time/date.js';
import type { Scope } from '../../kernel/scope.js';
import type { CatalogOwner } from '../../models/catalog/attribute.js';
import { ownersOf, RateCard } from '../../models/catalog/rate-card.js';
import type { TenantQueryBuilder } from '../../models/db/tenant-model.js';
import type { RateCardRow } from '../../models/catalog/rate-card-row.js';
import { findPriceMethod, readStoredRates } from '../../rating/index.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import type * as schema from '../../schemas/catalog/rate-card.js';
import { weighFacts } from '../usage/facts-weight.js';
import { listHeavyPage, type RowWeight } from '../lists/listing.js';
import { storedWeight } from '../lists/page-bytes.js';
import { requireService } from './require-service.js';

export type RateCardDto = Static<typeof schema.RateCard>;
type RowDto = RateCardDto['rows'][number];

/** The rate fields of a row, with exact decimals. */
function presentRates(row: RateCardRow): object {
  const method = findPriceMethod(row.priceMethod);
  return (method && readStoredRates(method.rates, row.rates)) ?? {};
}

function presentRow(row: RateCardRow): RowDto {
  const { id, attributeId: priceDimId, label, description, dynamicDescription, taxCode } = row;
  const { usageType, billingAccountId, attributeValues } = row;
  return {
    id,
    priceDimId,
    label,
    description,
    dynamicDescription,
    taxCode,
    usageType: usageType ?? 'Charge',
    billingAccountId,
    attributeValues,
    // Rows are written with the name of a price method only.
    priceMethod: row.priceMethod as RowDto['priceMethod'],
    ...presentRates(row),
  };
}

/** Versions of rate cards whose rows are loaded; thousands of rows are presented in portions. */
export async function presentRateCards(
  cards: readonly RateCard[],
  portions = new Portions(),
): Promise<RateCardDto[]> {
  const presented: RateCardDto[] = [];
  for (const card of cards) {
    const { currency, versionNo, isInForce: isCurrent, fromDate, lastDay } = card;
    const rows: RowDto[] = [];
    for (const row of card.rows ?? []) {
      rows.push(presentRow(row));
      if (portions.isOver) await portions.rest();
    }
    const toDate = lastDay === null ? {} : { toDate: lastDay };
    presented.push({ currency, versionNo, isCurrent, fromDate, ...toDate, rows });
  }
  return presented;
}

/** One version of a rate card whose rows are loaded. */
export async function presentCard(card: RateCard): Promise<RateCardDto> {
  const [presented] = await presentRateCards([card]);
  if (!presented) throw new Error('One card was presented as none.');
  return presented;
}

/** The problem of a currency that has no current card. */
export const missingRateCard = (currency: string): Problem =>
  problem.notFound(`There is no rate card for the currency '${currency}'.`);

/** The code of the currency that a path names. 404: there is no such currency. */
export function currencyOfPath(codeOrName: string): string {
  const currency = referenceData.currency(codeOrName);
  if (!currency) throw missingRateCard(codeOrName);
  return currency.code;
}

/** The cards of an owner that are in force on a day, one for each currency. */
const cardsOn = (db: Knex, tenantId: string, owner: CatalogOwner, day: string) =>
  RateCard.inForceOn(db, tenantId, day, ownersOf(owner));

/** A row as it is answered, beside its rates and conditions. */
const rowBytes = 600;

const cardWeight: RowWeight<RateCard> = {
  sql: `coalesce((
      select sum(${rowBytes} + ${storedWeight('line.rates', 'line.attribute_values', 'line.label')}
        + ${storedWeight('line.description', 'line.dynamic_description')})
      from rate_card_row as line
      where line.tenant_id = rate_card.tenant_id and line.rate_card_id = rate_card.id
        and line.deleted_at is null
    ), 0)`,
  bytesOf: weighFacts,
};

/** One page of cards with their rows. */
async function listCards(
  { db: { read }, tenantId }: Scope,
  cards: TenantQueryBuilder<RateCard>,
  page: PageRequest,
): Promise<Listed<RateCardDto>> {
  const weight = {
    ...cardWeight,
    complete: (some: readonly RateCard[]) => RateCard.withRows(read, tenantId, some),
  };
  const listed = await listHeavyPage(cards, page, (card) => card, weight);
  return { ...listed, items: await presentRateCards(listed.items) };
}

/** One page of the current cards, one for each currency. */
export async function listCurrentRateCards(
  scope: Scope,
  owner: CatalogOwner,
  page: PageRequest,
): Promise<Listed<RateCardDto>> {
  const { db, tenantId, now } = scope;
  return listCards(scope, cardsOn(db.read, tenantId, owner, utcDate(now())), page);
}

/** The cards of lines that are in force on a day, by the line. */
export async function loadLineCards(
  db: Knex,
  tenantId: string,
  lineIds: readonly string[],
  day: string,
): Promise<ReadonlyMap<string, readonly RateCard[]>> {
  const owners = { contractServiceIds: lineIds };
  const cards = await RateCard.inForceOn(db, tenantId, day, owners);
  await RateCard.withRows(db, tenantId, cards);
  const byLine = new Map<string, RateCard[]>(lineIds.map((id) => [id, []]));
  for (const card of cards) byLine.get(card.contractServiceId ?? '')?.push(card);
  return byLine;
}

/** The card of a currency (its code) that is in force on a day, with its rows. */
export async function findCardOn(
  db: Knex,
  tenantId: string,
  owner: CatalogOwner,
  currency: string,
  day: string,
): Promise<RateCard | undefined> {
  const card = await cardsOn(db, tenantId, owner, day).findOne({ currency });
  if (card) await RateCard.withRows(db, tenantId, [card]);
  return card;
}

/** The card of a currency, by code or name, that is in force on a day. 404: there is none. */
export async function getRateCard(
  db: Knex,
  tenantId: string,
  owner: CatalogOwner,
  currency: string,
  day: string,
): Promise<RateCardDto> {
  const card = await findCardOn(db, tenantId, owner, currencyOfPath(currency), day);
  if (!card) throw missingRateCard(currency);
  return presentCard(card);
}

/**
 * One page of the versions of a currency's card, the newest `fromDate` first. 404: there is no such
 * card.
 */
export async function listRateCardVersions(
  scope: Scope,
  owner: CatalogOwner,
  currency: string,
  page: PageRequest,
): Promise<Listed<RateCardDto>> {
  const { db, tenantId, now } = scope;
  const versions = RateCard.versionsOn(db.read, tenantId, utcDate(now()), ownersOf(owner))
    .where({ currency: currencyOfPath(currency) })
    .orderBy([
      { column: 'fromDate', order: 'desc' },
      { column: 'versionNo', order: 'desc' },
    ]);
  const listed = await listCards(scope, versions, page);
  if (listed.total === 0) throw missingRateCard(currency);
  return listed;
}

/** One page of a service's current cards. 404: there is no such service. */
export async function listServiceRateCards(
  scope: Scope,
  serviceId: string,
  page: PageRequest,
): Promise<Listed<RateCardDto>> {
  await requireService(scope.db.read, scope.tenantId, serviceId);
  return listCurrentRateCards(scope, { serviceId }, page);
}

/** A service's current card of a currency. 404: no such service or card. */
export async function getServiceRateCard(
  { db, tenantId, now }: Scope,
  serviceId: string,
  currency: string,
): Promise<RateCardDto> {
  await requireService(db.read, tenantId, serviceId);
  return getRateCard(db.read, tenantId, { serviceId }, currency, utcDate(now()));
}

/** One page of the versions of a service's card. 404: no such service or card. */
export async function listServiceRateCardVersions(
  scope: Scope,
  serviceId: string,
  currency: string,
  page: PageRequest,
): Promise<Listed<RateCardDto>> {
  await requireService(scope.db.read, scope.tenantId, serviceId);
  return listRateCardVersions(scope, { serviceId }, currency, page);
}
