import type { Knex } from 'knex';
import { newId } from '../../kernel/id.js';
import { problem, type Problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import type { CatalogOwner } from '../../models/catalog/attribute.js';
import { isOverOn, RateCard } from '../../models/catalog/rate-card.js';
import { RateCardRow } from '../../models/catalog/rate-card-row.js';
import { findCardOn, type RateCardDto } from '../../queries/catalog/rate-card.js';
import {
  loadPriceable,
  type PriceableAttributes,
  type ResolvedCard,
  type RowColumns,
} from './rate-card-rows.js';
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
async function copyCard(
  trx: Knex.Transaction,
  scope: Scope,
  copy: CardOfLine,
): Promise<RateCardDto> {
  return putResolvedCard(trx, scope, copy.owner, copyRows(copy));
}

/** A version that another card has, as rows of this owner. */
interface VersionElsewhere {
  readonly card: ResolvedCard;
  readonly version: Pick<RateCard, 'fromDate' | 'lastDay' | 'isInForce'>;
}

/**
 * Gives an owner that has no cards versions of another's, each with its days. They stand in the order
 * of their days and are numbered in it.
 */
async function insertVersionsOfOther(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  versions: readonly VersionElsewhere[],
): Promise<void> {
  const numbers = new Map<string, number>();
  const cards = versions.map(({ card, version: { fromDate, lastDay, isInForce } }) => {
    const versionNo = (numbers.get(card.currency) ?? 0) + 1;
    numbers.set(card.currency, versionNo);
    const isOver = isOverOn(utcDate(scope.now()), { fromDate, isInForce });
    const toDate = isOver ? lastDay : null;
    return { card, id: newId(), versionNo, fromDate, toDate, isCurrent: isInForce };
  });
  await RateCard.insertAll(
    trx,
    scope.tenantId,
    cards.map(({ card: { currency }, ...columns }) => ({ ...columns, currency, ...owner })),
  );
  const rows = cards.flatMap(({ id, card }) =>
    card.rows.map((row) => ({ ...row, rateCardId: id })),
  );
  await RateCardRow.insertAll(trx, scope.tenantId, rows);
}

/** The cards of another line, that become those of one that has none. */
interface CardsOfLine extends Omit<CardOfLine, 'card'> {
  /** All versions, in the order of their days. */
  readonly cards: readonly RateCard[];
}

/**
 * Gives a line all versions of another's cards. What is over prices usage that comes late, but loses
 * the rows of attributes that the line has no more.
 */
export async function copyCardsWithVersions(
  trx: Knex.Transaction,
  scope: Scope,
  { cards, ...line }: CardsOfLine,
): Promise<void> {
  const today = utcDate(scope.now());
  const { byName } = line.attributes;
  const isKept = (card: RateCard, { attributeName }: RateCardRow): boolean =>
    !isOverOn(today, card) || byName.has(attributeName);
  const versions = cards.map((card) => {
    const rows = (card.rows ?? []).filter((row) => isKept(card, row));
    const copied = rows.map((row) => copyRow(row, { card, ...line }));
    return { card: { currency: card.currency, rows: copied }, version: card };
  });
  await insertVersionsOfOther(trx, scope, line.owner, versions);
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
