import { raw } from 'objection';
import type { Knex } from 'knex';
import type { Attribute } from '../../models/catalog/attribute.js';
import { isNotOver, RateCard } from '../../models/catalog/rate-card.js';
import { RateCardRow } from '../../models/catalog/rate-card-row.js';
import { inPortions } from '../../kernel/portions.js';
import { findLogicProblems, type LogicProblem, type LogicToValidate } from '../../rating/index.js';
import { loadAttributes } from './attribute.js';

/** The names that the formulas of a service may use. */
export interface KnownNames {
  readonly attributes: readonly Attribute[];
  /** The `attributeName`s on the rows of its current and coming cards. */
  readonly cardAttributeNames: readonly string[];
}

/** Loads what the formulas of a service may name, on a day and later. */
export async function loadKnownNames(
  db: Knex,
  tenantId: string,
  serviceId: string,
  day: string,
): Promise<KnownNames> {
  const attributes = await loadAttributes(db, tenantId, { serviceId });
  const cards = RateCard.query(db)
    .forTenant(tenantId)
    .existing()
    .where({ serviceId })
    .whereRaw(isNotOver('rate_card'), [day])
    .select('rate_card.id');
  const conditions = await RateCardRow.query(db)
    .forTenant(tenantId)
    .existing()
    .whereIn('rateCardId', cards)
    .joinRaw('cross join lateral jsonb_array_elements(rate_card_row.attribute_values) as v(pair)')
    .distinct(raw(`v.pair ->> 'attributeName' as name`))
    .castTo<{ name: string }[]>();
  return { attributes, cardAttributeNames: conditions.map(({ name }) => name) };
}

/** The problems of a logic, given the names that its formulas may use. */
export async function findProblems(
  { attributes, cardAttributeNames }: KnownNames,
  { priceOutput, steps }: LogicToValidate['logic'],
): Promise<LogicProblem[]> {
  const logic = { priceOutput, steps };
  return inPortions(findLogicProblems({ attributes, cardAttributeNames, logic }));
}
