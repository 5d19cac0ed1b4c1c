import { inPortions } from '../../kernel/portions.js';

/** Estimated bytes of an object, of a property and of a text, without their contents. */
const objectWeight = 56;
const memberWeight = 8;
const textWeight = 24;

/** So many values are weighed at once. */
const weighedAtOnce = 1_000;

/** Iterates without recursion, since a part may hold any JSON, and stops at `enough`. */
function* weighing(facts: object, enough: number): Generator<undefined, number, undefined> {
  let weight = 0;
  let weighed = 0;
  const open: unknown[] = [facts];
  while (open.length > 0 && weight <= enough) {
    const value = open.pop();
    if (typeof value === 'string') weight += textWeight + value.length;
    else if (Array.isArray(value)) {
      weight += objectWeight + memberWeight * value.length;
      for (const each of value) open.push(each);
    } else if (typeof value === 'object' && value !== null) {
      weight += objectWeight;
      for (const [name, member] of Object.entries(value)) {
        weight += memberWeight;
        if (name === 'formula' && typeof member === 'string') weight += 9 * member.length;
        open.push(member);
      }
    } else weight += memberWeight;
    weighed += 1;
    if (weighed % weighedAtOnce === 0) yield;
  }
  return weight;
}

/**
 * Estimates the memory of facts in bytes, in portions: all that they contain, down to the tiers of the lines'
 * card rows, and formulas of pricing logic, which take ten times their text once parsed. Stops at `enough`.
 */
export const weighFacts = (facts: object, enough = Infinity): Promise<number> =>
  inPortions(weighing(facts, enough));
