import type { Knex } from 'knex';
import { problem } from '../kernel/problem.js';
import type { Scope } from '../kernel/scope.js';
import type { RateCardRow } from '../models/rate-card-row.js';
import { findCurrentCard, type RateCardDto } from '../queries/rate-card.js';
import { loadPriceable, type PriceableAttributes, type RowColumns } from './rate-card-rows.js';
import { putResolvedCard } from './rate-card.js';

/** From where to where prices are copied. */
interface CardCopy {
  readonly serviceId: string;
  readonly contractServiceId: string;
  /** The code of the currency. */
  readonly currency: string;
}

/** The row as one of the line's: it prices the line's own attribute of the same name. */
function copyRow(row: RateCardRow, { byName }: PriceableAttributes): RowColumns {
  const attribute = byName.get(row.attributeName);
  if (!attribute) {
    throw problem.validation(
      `'sourceServiceId': the contract service has no priceable attribute '${row.attributeName}'`,
      { field: 'sourceServiceId' },
    );
  }
  const { position, attributeName, label, description, dynamicDescription, taxCode } = row;
  const { usageType, billingAccountId, priceMethod, rates, attributeValues } = row;
  return {
    ...{ position, attributeName, label, description, dynamicDescription, taxCode },
    ...{ usageType, billingAccountId, priceMethod, rates, attributeValues },
    attributeId: attribute.id,
  };
}

/**
 * Copies the current list prices of a service onto a line, as a new version of its exception card if
 * it has one; undefined where the service has no such prices. The caller holds line and service, and
 * raises the rating version of the account. 400: the line has no attribute that a row prices.
 */
export async function copyCatalogCard(
  trx: Knex.Transaction,
  scope: Scope,
  { serviceId, contractServiceId, currency }: CardCopy,
): Promise<RateCardDto | undefined> {
  const card = await findCurrentCard(trx, scope.tenantId, { serviceId }, currency);
  if (!card) return undefined;
  const owner = { contractServiceId };
  const attributes = await loadPriceable(trx, scope.tenantId, owner);
  const rows = (card.rows ?? []).map((row) => copyRow(row, attributes));
  return putResolvedCard(trx, scope, owner, { currency, rows });
}
