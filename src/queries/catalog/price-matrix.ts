import type { Static } from 'typebox';
import { referenceData, type Currency } from '../../kernel/reference-data.js';
import type { Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import { RateCard } from '../../models/catalog/rate-card.js';
import type * as schema from '../../schemas/catalog/price-matrix.js';
import type { Currency as CurrencySchema } from '../../schemas/reference/reference-data.js';
import { requireLineAlone } from '../contracts/contract-service.js';
import { getRateCard, type RateCardDto } from './rate-card.js';
import { requireService } from './require-service.js';

export type PriceMatrixDto = Static<typeof schema.PriceMatrix>;
export type ExceptionMatrixDto = Static<typeof schema.ExceptionMatrix>;
type CurrencyDto = Static<typeof CurrencySchema>;

function currencyOf(code: string): Currency {
  const currency = referenceData.currency(code);
  if (!currency) throw new Error(`A rate card has the unknown currency ${code}.`);
  return currency;
}

/** A card of a service as family B shows it. */
export function presentPriceMatrix(serviceId: string, card: RateCardDto): PriceMatrixDto {
  return { serviceId, currencyId: currencyOf(card.currency).id, ...card };
}

/** A card of a line as family B shows it. */
export function presentExceptionMatrix(id: string, card: RateCardDto): ExceptionMatrixDto {
  return { contractSvcId: id, currencyId: currencyOf(card.currency).id, ...card };
}

/** The current list prices in a currency (its code). 404: no such service, or it has none. */
export async function getPriceMatrix(
  { db, tenantId, now }: Scope,
  serviceId: string,
  currency: string,
): Promise<PriceMatrixDto> {
  await requireService(db.read, tenantId, serviceId);
  const card = await getRateCard(db.read, tenantId, { serviceId }, currency, utcDate(now()));
  return presentPriceMatrix(serviceId, card);
}

/** The currencies in which a service has list prices, by code. 404: there is no such service. */
export async function listPriceMatrixCurrencies(
  { db, tenantId }: Scope,
  serviceId: string,
): Promise<CurrencyDto[]> {
  await requireService(db.read, tenantId, serviceId);
  const cards = await RateCard.query(db.read)
    .forTenant(tenantId)
    .existing()
    .where({ serviceId })
    .distinct('currency')
    .orderBy('currency');
  return cards.map((card) => {
    const { id, code, name, symbol } = currencyOf(card.currency);
    return { id, code, name, symbol };
  });
}

/** The current exception prices in a currency (its code). 404: no such line, or it has none. */
export async function getExceptionMatrix(
  { db, tenantId, now }: Scope,
  contractServiceId: string,
  currency: string,
): Promise<ExceptionMatrixDto> {
  await requireLineAlone(db.read, tenantId, contractServiceId);
  const owner = { contractServiceId };
  const card = await getRateCard(db.read, tenantId, owner, currency, utcDate(now()));
  return presentExceptionMatrix(contractServiceId, card);
}
