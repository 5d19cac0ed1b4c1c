/** What an object, a member of one and a text take beside their content, in about bytes. */
const objectWeight = 56;
const memberWeight = 8;
const textWeight = 24;

/**
 * What facts take of memory, in about bytes: everything that they carry, down to the tiers of the rows
 * of the cards of the lines, and the formulas of pricing logic, which are ten times their text when they
 * are parsed. Walks without recursion, since a part may hold any JSON, and stops when it is
 * `enough`.
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
