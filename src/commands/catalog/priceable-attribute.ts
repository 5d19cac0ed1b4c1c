import type { Knex } from 'knex';
import type { Static } from 'typebox';
import type { Scope } from '../../kernel/scope.js';
import { Attribute } from '../../models/catalog/attribute.js';
import {
  loadAttributes,
  presentAttribute,
  type AttributeDto,
} from '../../queries/catalog/attribute.js';
import type * as schema from '../../schemas/catalog/attribute.js';
import { createAttribute, deleteAttribute, updateAttribute } from './attribute.js';
import { lockService } from './lock-service.js';
import { protectPricingLogic } from './pricing-logic.js';

type AttributeWrite = Static<typeof schema.AttributeWrite>;
type AttributeUpdate = Static<typeof schema.AttributeUpdate>;

/**
 * Before a caller adds an attribute: removes the one of the same name that exists only because
 * pricing logic names it as its `transactionDimension`, which may name any attribute.
 */
export async function releaseTransactionNames(
  trx: Knex.Transaction,
  scope: Scope,
  serviceId: string,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  await Attribute.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .where({ serviceId, kind: 'TRANSACTION' })
    .whereIn('name', [...names])
    .patch({ deletedAt: scope.now() });
}

/** Adds a priceable attribute. 404: there is no such service. 409: its name is taken. */
export async function createPriceableAttribute(
  scope: Scope,
  serviceId: string,
  input: AttributeWrite,
): Promise<AttributeDto> {
  return scope.db.transaction(async (trx) => {
    const service = await lockService(trx, scope, serviceId);
    await releaseTransactionNames(trx, scope, service.id, [input.name]);
    return presentAttribute(await createAttribute(trx, scope, { serviceId: service.id }, input));
  });
}

/** Changes what is given. 404. 409: its name is taken, or a formula uses the name it had. */
export async function updatePriceableAttribute(
  scope: Scope,
  serviceId: string,
  id: string,
  input: AttributeUpdate,
): Promise<AttributeDto> {
  return scope.db.transaction(async (trx) => {
    const service = await lockService(trx, scope, serviceId);
    const owner = { serviceId: service.id };
    const before = await loadAttributes(trx, scope.tenantId, owner);
    const attribute = before.find((candidate) => candidate.id === id);
    if (input.name !== undefined && input.name !== attribute?.name) {
      await releaseTransactionNames(trx, scope, service.id, [input.name]);
    }
    const changed = await updateAttribute(trx, scope, owner, id, input, 'PRICEABLE');
    await protectPricingLogic(trx, scope, service.id, before);
    return presentAttribute(changed);
  });
}

/** Deletes an attribute. 404. 409: a row of a current card prices it, or a formula uses it. */
export async function deletePriceableAttribute(
  scope: Scope,
  serviceId: string,
  id: string,
): Promise<void> {
  await scope.db.transaction(async (trx) => {
    const service = await lockService(trx, scope, serviceId);
    const owner = { serviceId: service.id };
    const before = await loadAttributes(trx, scope.tenantId, owner);
    await deleteAttribute(trx, scope, owner, id, 'PRICEABLE');
    await protectPricingLogic(trx, scope, service.id, before);
  });
}
