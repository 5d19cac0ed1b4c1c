import { decimalText, parseDecimal } from '../../kernel/numbers/money.js';
import { compileFormula } from './compile-formula.js';
import type { AttributeValue, PlanAttribute } from '../types.js';

/** A card with all that decides which of its rows are chosen. */
export interface CheckedCard {
  readonly serviceType: string;
  /** Of the service and, in place of those of the same name, of the line. */
  readonly attributes: readonly Pick<PlanAttribute, 'name' | 'dataType' | 'isMeter'>[];
  readonly logics: readonly CheckedLogic[];
  readonly rows: readonly CheckedRow[];
}

export interface CheckedLogic {
  readonly chargeType: string | null;
  readonly steps: readonly { readonly formula: string }[];
}

export interface CheckedRow {
  readonly attributeName: string;
  readonly attributeValues: readonly AttributeValue[];
  readonly resetFrequency: string | null;
}

/** A row, by its place in the card, that no charge is made of, or that says what has no effect. */
export type IdleRow = { readonly row: number } & (
  | { readonly why: 'hidden'; readonly by: number }
  | { readonly why: 'no number'; readonly name: string; readonly value: string }
  | { readonly why: 'no formula' }
  | { readonly why: 'not metered' }
);

/**
 * Finds rows that no event and no recurring charge can reach: behind one of the same attribute and
 * conditions (spec/rating.md R23), with a condition that no valid event meets (R19), or asked for by
 * no formula where formulas price (R40); and reset frequencies of what is not metered (R38). Yields
 * between the rows.
 */
export function* findIdleRows(card: CheckedCard): Generator<undefined, IdleRow[], undefined> {
  const attributes = new Map(card.attributes.map((attribute) => [attribute.name, attribute]));
  const priced = yield* namesPricedByLogic(card);
  const first = new Map<string, number>();
  const found: IdleRow[] = [];
  for (const [row, { attributeName, attributeValues, resetFrequency }] of card.rows.entries()) {
    const isNumber = (name: string) => attributes.get(name)?.dataType === 'Number';
    const unreadable = attributeValues.find(
      ({ name, value }) => isNumber(name) && parseDecimal(value) === null,
    );
    const key = keyOf(attributeName, attributeValues, isNumber);
    const by = first.get(key);
    first.set(key, by ?? row);
    if (by !== undefined) found.push({ row, why: 'hidden', by });
    else if (unreadable) found.push({ row, why: 'no number', ...unreadable });
    else if (priced?.has(attributeName) === false) found.push({ row, why: 'no formula' });
    else if (resetFrequency !== null && attributes.get(attributeName)?.isMeter === false) {
      found.push({ row, why: 'not metered' });
    }
    yield;
  }
  return found;
}

/** The same text for conditions that the same events meet. */
function keyOf(
  attributeName: string,
  attributeValues: readonly AttributeValue[],
  isNumber: (name: string) => boolean,
): string {
  const conditions = attributeValues.map(({ name, value }) => {
    const number = isNumber(name) ? parseDecimal(value) : null;
    return JSON.stringify([name, number === null ? value : decimalText(number)]);
  });
  return JSON.stringify([attributeName, ...conditions.sort()]);
}

/** The attributes that formulas ask for; null where some charges are made of rows alone. */
function* namesPricedByLogic({
  serviceType,
  logics,
}: CheckedCard): Generator<undefined, ReadonlySet<string> | null, undefined> {
  const isPricedByLogic = (charge: string) =>
    logics.some(({ chargeType }) => {
      if (chargeType === null || chargeType === charge) return true;
      return chargeType === 'All' && charge !== 'OTC';
    });
  if (!isPricedByLogic('Usage') || !isPricedByLogic(serviceType)) return null;
  const names = new Set<string>();
  for (const { formula } of logics.flatMap(({ steps }) => steps)) {
    const compiled = compileFormula(formula);
    if (compiled.ok) for (const { name } of compiled.formula.prices) names.add(name);
    yield;
  }
  return names;
}
