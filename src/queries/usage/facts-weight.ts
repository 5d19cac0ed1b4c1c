/** Estimated bytes of an object, of a property and of a text, without their contents. */
const objectWeight = 56;
const memberWeight = 8;
const textWeight = 24;

/**
 * Estimates the memory of facts in bytes: all that they contain, down to the tiers of the lines'
 * card rows, and formulas of pricing logic, which take ten times their text once parsed. Iterates
 * without recursion, since a part may hold any JSON, and stops at `enough`.
 */
export function weighFacts(facts: object, enough = Infinity): number {
  let weight = 0;
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
  }
  return weight;
}
