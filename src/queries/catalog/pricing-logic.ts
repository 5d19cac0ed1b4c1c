import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { PricingLogic } from '../../models/catalog/pricing-logic.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import { presenterOf } from '../../schemas/fields/columns.js';
import * as schema from '../../schemas/catalog/pricing-logic.js';
import { listHeavyPage } from '../lists/listing.js';
import { storedWeight } from '../lists/page-bytes.js';
import { requireService } from './require-service.js';

export type PricingLogicDto = Static<typeof schema.PricingLogic>;

const presentColumns = presenterOf(schema.PricingLogic, ['steps']);

export const presentPricingLogic = (logic: PricingLogic): PricingLogicDto => ({
  ...presentColumns(logic),
  steps: logic.steps.map(({ name, label, formula }) => ({ name, label: label ?? null, formula })),
});

/** The existing pricing logic of a service, in its order. */
export function pricingLogicOf(db: Knex, tenantId: string, serviceId: string) {
  return PricingLogic.query(db)
    .forTenant(tenantId)
    .existing()
    .where({ serviceId })
    .orderBy([{ column: 'seqNo' }, { column: 'id' }]);
}

/** One page of a service's pricing logic. 404: there is no such service. */
export async function listPricingLogic(
  { db, tenantId }: Scope,
  serviceId: string,
  page: PageRequest,
): Promise<Listed<PricingLogicDto>> {
  await requireService(db.read, tenantId, serviceId);
  return listHeavyPage(pricingLogicOf(db.read, tenantId, serviceId), page, presentPricingLogic, {
    sql: storedWeight('steps'),
    bytesOf: ({ steps }) => JSON.stringify(steps).length,
  });
}

/** A pricing logic by service and id. 404: there is none. */
export async function findPricingLogic(
  db: Knex,
  tenantId: string,
  serviceId: string,
  id: string,
): Promise<PricingLogic> {
  const logic = await pricingLogicOf(db, tenantId, serviceId).findById(id);
  if (!logic) throw problem.notFound(`There is no pricing logic '${id}'.`);
  return logic;
}

/** A pricing logic of a service. 404: no such service or logic. */
export async function getPricingLogic(
  { db, tenantId }: Scope,
  serviceId: string,
  id: string,
): Promise<PricingLogicDto> {
  await requireService(db.read, tenantId, serviceId);
  return presentPricingLogic(await findPricingLogic(db.read, tenantId, serviceId, id));
}
