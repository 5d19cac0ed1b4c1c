import type { Knex } from 'knex';
import { isUuid } from '../kernel/id.js';
import { problem } from '../kernel/problem.js';
import type { Scope } from '../kernel/scope.js';
import type { Attribute } from '../models/attribute.js';
import type { ContractService } from '../models/contract-service.js';
import { linesOf } from '../queries/contract-service.js';
import { insertAttributes, type AttributeInput } from './attribute.js';
import { copyCard } from './copy-card.js';
import { loadPriceable } from './rate-card-rows.js';

/*
 * A contract shows its lines in short. A line that is sent back with its id, in a PUT that replaces
 * the lines, keeps of the former one what the short form does not show (docs/decisions/0052).
 */

/** The lines of a contract that these ids name, with their attributes and current cards, by id. */
export async function loadFormerLines(
  trx: Knex.Transaction,
  tenantId: string,
  contractId: string,
  ids: readonly unknown[],
): Promise<ReadonlyMap<unknown, ContractService>> {
  const known = ids.filter((id): id is string => typeof id === 'string' && isUuid(id));
  if (known.length === 0) return new Map();
  const lines = await linesOf(trx, tenantId)
    .where({ contractId })
    .whereIn('contract_service.id', known)
    .withGraphFetched('[attributes, currentRateCards.rows]');
  return new Map(lines.map((line) => [line.id, line]));
}

/** The columns that the short form of a line does not show. */
export function formerColumns(former: ContractService) {
  const { terminationMessage, chargeFrequency, billingFrequency, subscriptionChargeType } = former;
  const { dimensionValues, accountMap } = former;
  return {
    ...{ terminationMessage, chargeFrequency, billingFrequency, subscriptionChargeType },
    ...{ dimensionValues, accountMap },
  };
}

/** An attribute as a request would give it. */
function inputOf(attribute: Attribute): AttributeInput {
  const { name, label, dimensionDataType, isContractInput, isMeterDimension } = attribute;
  const { isProration, meterResetFrequency, dimValues, dimensionValText } = attribute;
  return {
    ...{ name, label, dimensionDataType, isContractInput, isMeterDimension },
    ...{ isProration, meterResetFrequency, dimValues, dimensionValText },
  };
}

/** Gives a line the attributes of its former self, of all kinds. */
export async function insertFormerAttributes(
  trx: Knex.Transaction,
  scope: Scope,
  id: string,
  { attributes = [] }: ContractService,
): Promise<void> {
  for (const kind of ['PRICEABLE', 'INPUT', 'TRANSACTION'] as const) {
    const inputs = attributes.filter((attribute) => attribute.kind === kind).map(inputOf);
    await insertAttributes(trx, scope, { contractServiceId: id }, kind, inputs);
  }
}

/** Gives a line the current cards of its former self. 400: the request takes away what they price. */
export async function insertFormerCards(
  trx: Knex.Transaction,
  scope: Scope,
  id: string,
  { currentRateCards = [] }: ContractService,
  at: string,
): Promise<void> {
  if (currentRateCards.length === 0) return;
  const owner = { contractServiceId: id };
  const attributes = await loadPriceable(trx, scope.tenantId, owner);
  const missing = (name: string) =>
    problem.validation(
      `'${at}priceableAttributes' is without '${name}', which an exception card prices`,
      { field: `${at}priceableAttributes` },
    );
  for (const card of currentRateCards) {
    await copyCard(trx, scope, { card, owner, attributes, missing });
  }
}
