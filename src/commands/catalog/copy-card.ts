import type { Knex } from 'knex';
import { problem, type Problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import type { CatalogOwner } from '../../models/catalog/attribute.js';
import type { RateCard } from '../../models/catalog/rate-card.js';
import type { RateCardRow } from '../../models/catalog/rate-card-row.js';
import { findCardOn, type RateCardDto } from '../../queries/catalog/rate-card.js';
import {
  loadPriceable,
  type PriceableAttributes,
  type ResolvedCard,
  type RowColumns,
} from './rate-card-rows.js';
import { insertDatedVersion } from './rate-card-version.js';
import { putResolvedCard } from './rate-card.js';

/** Source and target of a copy of prices. */
interface CardCopy {
  readonly serviceId: string;
  readonly contractServiceId: string;
  /** The code of the currency. */
  readonly currency: string;
}

/** A card that becomes one of a line. */
interface CardOfLine {
  readonly card: RateCard;
  readonly owner: CatalogOwner;
  readonly attributes: PriceableAttributes;
  /** What is thrown where the line has no attribute of this name. */
  readonly missing: (attributeName: string) => Problem;
}

/** The row as one of the line's: it prices the line's own attribute of the same name. */
function copyRow(row: RateCardRow, { attributes, missing }: CardOfLine): RowColumns {
  const attribute = attributes.byName.get(row.attributeName);
  if (!attribute) throw missing(row.attributeName);
  const { position, attributeName, label, description, dynamicDescription, taxCode } = row;
  const { usageType, billingAccountId, priceMethod, rates, attributeValues } = row;
  return {
    position,
    attributeName,
    label,
    description,
    dynamicDescription,
    taxCode,
    usageType,
    billingAccountId,
    priceMethod,
    rates,
    attributeValues,
    attributeId: attribute.id,
  };
}

const copyRows = (copy: CardOfLine): ResolvedCard => ({
  currency: copy.card.currency,
  rows: (copy.card.rows ?? []).map((row) => copyRow(row, copy)),
});

/** Makes a card of a line from another, as a new version if the line has one of its currency. */
export async function copyCard(
  trx: Knex.Transaction,
  scope: Scope,
  copy: CardOfLine,
): Promise<RateCardDto> {
  return putResolvedCard(trx, scope, copy.owner, copyRows(copy));
}

/** Makes a version of a line's card from another that is to come, for the same day. */
export async function copyComingVersion(
  trx: Knex.Transaction,
  scope: Scope,
  copy: CardOfLine,
): Promise<void> {
  await insertDatedVersion(trx, scope, copy.owner, copyRows(copy), copy.card.fromDate);
}

/**
 * Copies the current list prices of a service onto a line, as a new version of its exception card if
 * it has one; undefined where the service has no such prices. The caller holds line and service.
 * 400: the line has no attribute that a row prices.
 */
export async function copyCatalogCard(
  trx: Knex.Transaction,
  scope: Scope,
  { serviceId, contractServiceId, currency }: CardCopy,
): Promise<RateCardDto | undefined> {
  const today = utcDate(scope.now());
  const card = await findCardOn(trx, scope.tenantId, { serviceId }, currency, today);
  if (!card) return undefined;
  const owner = { contractServiceId };
  const attributes = await loadPriceable(trx, scope.tenantId, owner);
  const missing = (name: string) =>
    problem.validation(
      `'sourceServiceId': the contract service has no priceable attribute '${name}'`,
      { field: 'sourceServiceId' },
    );
  return copyCard(trx, scope, { card, owner, attributes, missing });
}
