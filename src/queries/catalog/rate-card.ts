import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { problem, type Problem } from '../../kernel/problem.js';
import { referenceData } from '../../kernel/reference-data.js';
import type { Scope } from '../../kernel/scope.js';
import type { CatalogOwner } from '../../models/catalog/attribute.js';
import { RateCard } from '../../models/catalog/rate-card.js';
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

/** A version of a rate card whose rows are loaded. */
export function presentRateCard(card: RateCard): RateCardDto {
  const { currency, versionNo, isCurrent, fromDate, toDate } = card;
  return {
    currency,
    versionNo,
    isCurrent,
    fromDate,
    ...(toDate === null ? {} : { toDate }),
    rows: (card.rows ?? []).map(presentRow),
  };
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

function currentCards(db: Knex, tenantId: string, owner: CatalogOwner) {
  return RateCard.query(db)
    .forTenant(tenantId)
    .existing()
    .where({ ...owner, isCurrent: true })
    .orderBy('currency')
    .withGraphFetched('rows');
}

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

/** One page of the current cards, one for each currency. */
export async function listCurrentRateCards(
  db: Knex,
  tenantId: string,
  owner: CatalogOwner,
  page: PageRequest,
): Promise<Listed<RateCardDto>> {
  return listHeavyPage(currentCards(db, tenantId, owner), page, presentRateCard, cardWeight);
}

/** The current cards of lines, by the line. */
export async function loadLineCards(
  db: Knex,
  tenantId: string,
  lineIds: readonly string[],
): Promise<ReadonlyMap<string, readonly RateCardDto[]>> {
  const cards = await RateCard.query(db)
    .forTenant(tenantId)
    .existing()
    .where({ isCurrent: true })
    .whereRaw('contract_service_id = any(?::uuid[])', [[...lineIds]])
    .orderBy('currency')
    .withGraphFetched('rows');
  const byLine = new Map<string, RateCardDto[]>(lineIds.map((id) => [id, []]));
  for (const card of cards) {
    byLine.get(card.contractServiceId ?? '')?.push(presentRateCard(card));
  }
  return byLine;
}

/** The current card of a currency (its code), with its rows. */
export async function findCurrentCard(
  db: Knex,
  tenantId: string,
  owner: CatalogOwner,
  currency: string,
): Promise<RateCard | undefined> {
  return currentCards(db, tenantId, owner).findOne({ currency });
}

/** The current card of a currency, by code or name. 404: there is none. */
export async function getRateCard(
  db: Knex,
  tenantId: string,
  owner: CatalogOwner,
  currency: string,
): Promise<RateCardDto> {
  const card = await findCurrentCard(db, tenantId, owner, currencyOfPath(currency));
  if (!card) throw missingRateCard(currency);
  return presentRateCard(card);
}

/** One page of the versions of a currency's card, newest first. 404: there is no such card. */
export async function listRateCardVersions(
  db: Knex,
  tenantId: string,
  owner: CatalogOwner,
  currency: string,
  page: PageRequest,
): Promise<Listed<RateCardDto>> {
  const versions = RateCard.query(db)
    .forTenant(tenantId)
    .existing()
    .where({ ...owner, currency: currencyOfPath(currency) })
    .orderBy('versionNo', 'desc')
    .withGraphFetched('rows');
  const listed = await listHeavyPage(versions, page, presentRateCard, cardWeight);
  if (listed.total === 0) throw missingRateCard(currency);
  return listed;
}

/** One page of a service's current cards. 404: there is no such service. */
export async function listServiceRateCards(
  { db, tenantId }: Scope,
  serviceId: string,
  page: PageRequest,
): Promise<Listed<RateCardDto>> {
  await requireService(db.read, tenantId, serviceId);
  return listCurrentRateCards(db.read, tenantId, { serviceId }, page);
}

/** A service's current card of a currency. 404: no such service or card. */
export async function getServiceRateCard(
  { db, tenantId }: Scope,
  serviceId: string,
  currency: string,
): Promise<RateCardDto> {
  await requireService(db.read, tenantId, serviceId);
  return getRateCard(db.read, tenantId, { serviceId }, currency);
}

/** One page of the versions of a service's card, newest first. 404: no such service or card. */
export async function listServiceRateCardVersions(
  { db, tenantId }: Scope,
  serviceId: string,
  currency: string,
  page: PageRequest,
): Promise<Listed<RateCardDto>> {
  await requireService(db.read, tenantId, serviceId);
  return listRateCardVersions(db.read, tenantId, { serviceId }, currency, page);
}
