import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import { ContractService } from '../../models/contracts/contract-service.js';
import { Service } from '../../models/catalog/service.js';
import { loadAttributes } from '../../queries/catalog/attribute.js';
import { warnOfCards } from '../../queries/catalog/card-warnings.js';
import { getService, type ServiceDto } from '../../queries/catalog/service.js';
import { columnsOf } from '../../schemas/fields/columns.js';
import * as schema from '../../schemas/catalog/service.js';
import {
  deleteAttributes,
  insertAttributes,
  replaceAttributes,
  requireDistinctNames,
  type AttributeReplacement,
  type ReplacedNames,
} from './attribute.js';
import { lockService } from './lock-service.js';
import { releaseTransactionNames } from './priceable-attribute.js';
import { deletePricingLogicOf, insertPricingLogic, protectPricingLogic } from './pricing-logic.js';
import { deleteRateCards, insertRateCards, makesVersion, replaceRateCards } from './rate-card.js';

type ServiceCreate = Static<typeof schema.ServiceCreate>;
type ServiceUpdate = Static<typeof schema.ServiceUpdate>;
type ServiceWrite = ServiceCreate | ServiceUpdate;

/**
 * A new service whose type or status is null gets the default of the column; in a change null is
 * refused (docs/decisions/0311).
 */
const serviceColumns = (input: ServiceWrite) =>
  columnsOf(schema.ServiceSummary, input, { serviceType: undefined, serviceStatus: undefined });

function checkAttributeNames({ priceableAttributes, inputAttributes }: ServiceWrite): void {
  requireDistinctNames([
    { field: 'priceableAttributes', attributes: priceableAttributes ?? [] },
    { field: 'inputAttributes', attributes: inputAttributes ?? [] },
  ]);
}

/** A service that was written, with the warnings about cards that were. */
async function readWritten(
  trx: Knex.Transaction,
  { tenantId, now }: Scope,
  id: string,
  written: ServiceWrite,
): Promise<ServiceDto> {
  const today = utcDate(now());
  const service = await getService(trx, tenantId, id, today);
  if (written.rateCards === undefined) return service;
  const owner = { serviceId: service.id };
  const sent = written.rateCards ?? [];
  const rateCards = await warnOfCards(trx, tenantId, owner, service.rateCards, sent, today);
  return { ...service, rateCards };
}

/**
 * Creates a service with its attributes, rate cards and pricing logic, in this order
 * (spec/resources.md R36). 400: a nested part is not valid. 409: the name is taken.
 */
export async function createService(scope: Scope, input: ServiceCreate): Promise<ServiceDto> {
  checkAttributeNames(input);
  const { priceableAttributes, inputAttributes, rateCards, pricingLogic } = input;
  return scope.db.transaction(async (trx) => {
    const { id } = await Service.query(trx)
      .forTenant(scope.tenantId)
      .insert({ name: input.name, ...serviceColumns(input) });
    const owner = { serviceId: id };
    await insertAttributes(trx, scope, owner, 'PRICEABLE', priceableAttributes ?? []);
    await insertAttributes(trx, scope, owner, 'INPUT', inputAttributes ?? []);
    await insertRateCards(trx, scope, owner, rateCards ?? [], { field: 'rateCards' });
    await insertPricingLogic(trx, scope, id, pricingLogic ?? [], { field: 'pricingLogic' });
    return readWritten(trx, scope, id, input);
  });
}

/** Replaces the collections of attributes that a PUT holds. */
async function putAttributes(
  trx: Knex.Transaction,
  scope: Scope,
  serviceId: string,
  { priceableAttributes, inputAttributes }: ServiceUpdate,
): Promise<ReplacedNames> {
  const replacements: AttributeReplacement[] = [];
  if (priceableAttributes !== undefined) {
    replacements.push({ kind: 'PRICEABLE', attributes: priceableAttributes ?? [] });
  }
  if (inputAttributes !== undefined) {
    replacements.push({ kind: 'INPUT', attributes: inputAttributes ?? [] });
  }
  if (replacements.length === 0) return new Map();
  const names = replacements.flatMap(({ attributes }) => attributes.map(({ name }) => name));
  await releaseTransactionNames(trx, scope, serviceId, names);
  return replaceAttributes(trx, scope, { serviceId }, replacements);
}

/**
 * Changes what is given; a collection that is present replaces the whole of it (spec/resources.md
 * R18). With priceableAttributes and rateCards the existing cards are removed first; with rateCards
 * alone an approved service gets new versions; with priceableAttributes alone current rows price
 * the new attribute of the same name. 400, 404. 409: the name is taken, or a current row or a
 * formula uses an attribute that would be gone.
 */
export async function updateService(
  scope: Scope,
  id: string,
  input: ServiceUpdate,
): Promise<ServiceDto> {
  checkAttributeNames(input);
  return scope.db.transaction(async (trx) => {
    const service = await lockService(trx, scope, id);
    const serviceId = service.id;
    const owner = { serviceId };
    const { priceableAttributes, inputAttributes, rateCards, pricingLogic } = input;
    const columns = { ...serviceColumns(input), updatedAt: scope.now() };
    await service.$query(trx).forTenant(scope.tenantId).patch(columns);
    const before = await loadAttributes(trx, scope.tenantId, owner);
    const replacesBoth = priceableAttributes !== undefined && rateCards !== undefined;
    if (replacesBoth) await deleteRateCards(trx, scope, owner);
    const replaced = await putAttributes(trx, scope, serviceId, input);
    if (rateCards !== undefined) {
      await replaceRateCards(trx, scope, owner, rateCards ?? [], {
        field: 'rateCards',
        replaced,
        makesVersion: makesVersion(service),
      });
    }
    if (pricingLogic !== undefined) {
      await deletePricingLogicOf(trx, scope, serviceId);
      await insertPricingLogic(trx, scope, serviceId, pricingLogic ?? [], {
        field: 'pricingLogic',
      });
    } else if (priceableAttributes !== undefined || inputAttributes !== undefined) {
      await protectPricingLogic(trx, scope, serviceId, before);
    }
    return readWritten(trx, scope, serviceId, input);
  });
}

/**
 * Deletes a service with its pricing logic, rate cards and attributes. 404: there is none. 409: a
 * contract line sells it.
 */
export async function deleteService(scope: Scope, id: string): Promise<void> {
  await scope.db.transaction(async (trx) => {
    const service = await lockService(trx, scope, id);
    const owner = { serviceId: service.id };
    const line = await ContractService.query(trx)
      .forTenant(scope.tenantId)
      .existing()
      .findOne(owner);
    if (line) throw problem.conflict(`Contract services are of the service '${service.name}'.`);
    await deletePricingLogicOf(trx, scope, service.id);
    await deleteRateCards(trx, scope, owner);
    await deleteAttributes(trx, scope, owner);
    await service.$query(trx).forTenant(scope.tenantId).patch({ deletedAt: scope.now() });
  });
}
