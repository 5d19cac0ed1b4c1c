import type { Knex } from 'knex';
import type { Static } from 'typebox';
import type { Scope } from '../../kernel/scope.js';
import type { Attribute } from '../../models/catalog/attribute.js';
import { RateCard } from '../../models/catalog/rate-card.js';
import { Service } from '../../models/catalog/service.js';
import type { AttributeKind } from '../../rating/index.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import { presenterOf } from '../../schemas/fields/columns.js';
import * as schema from '../../schemas/catalog/service.js';
import { presentAttribute } from './attribute.js';
import { listRecords } from '../lists/resource-list.js';
import { presentPricingLogic } from './pricing-logic.js';
import { presentRateCards } from './rate-card.js';
import { missingService } from './require-service.js';

type ServiceSummaryDto = Static<typeof schema.ServiceSummary>;
export type ServiceDto = Static<typeof schema.Service>;

/** The service as a row shows it. */
export const presentServiceSummary = presenterOf(schema.ServiceSummary);

const ofKind = (attributes: readonly Attribute[], kind: AttributeKind) =>
  attributes.filter((attribute) => attribute.kind === kind).map(presentAttribute);

async function presentService(service: Service, cards: readonly RateCard[]): Promise<ServiceDto> {
  const { attributes = [], pricingLogic = [] } = service;
  return {
    ...presentServiceSummary(service),
    priceableAttributes: ofKind(attributes, 'PRICEABLE'),
    inputAttributes: ofKind(attributes, 'INPUT'),
    rateCards: await presentRateCards(cards),
    pricingLogic: pricingLogic.map(presentPricingLogic),
  };
}

const serviceList = { model: Service, orderBy: 'name, id', searched: ['name', 'code', 'label'] };

/** One page of services by name; `q` is part of the name, code or label. */
export async function listServices(
  scope: Scope,
  page: PageRequest,
  q: string | undefined,
): Promise<Listed<ServiceSummaryDto>> {
  const { items, total } = await listRecords(serviceList, scope, { page, q });
  return { items: items.map(presentServiceSummary), total };
}

/** The whole service with the cards that are in force on a day. 404: there is none. */
export async function getService(
  db: Knex,
  tenantId: string,
  id: string,
  day: string,
): Promise<ServiceDto> {
  const service = await Service.query(db)
    .forTenant(tenantId)
    .existing()
    .findById(id)
    .withGraphFetched('[attributes, pricingLogic]');
  if (!service) throw missingService(id);
  const owners = { serviceIds: [service.id] };
  const cards = await RateCard.inForceOn(db, tenantId, day, owners);
  return presentService(service, await RateCard.withRows(db, tenantId, cards));
}
