import { Decimal, ZERO } from '../../kernel/numbers/money.js';

/** A part of money that a hold was promised, that a charge has drawn, or below zero that it gave back. */
export interface GrantPart {
  readonly grantId: string;
  readonly walletId: string;
  readonly amount: Decimal;
}

/** What parts come to by grant, in the order in which grants come first; without those that come to nothing. */
export function netOfGrants(parts: readonly GrantPart[]): GrantPart[] {
  const byGrant = new Map<string, GrantPart>();
  for (const part of parts) {
    const known = byGrant.get(part.grantId);
    const amount = known ? known.amount.plus(part.amount) : part.amount;
    byGrant.set(part.grantId, { ...part, amount });
  }
  return [...byGrant.values()].filter(({ amount }) => !amount.isZero());
}

/** The same with the other sign. */
export const negated = (parts: readonly GrantPart[]): GrantPart[] =>
  parts.map((part) => ({ ...part, amount: part.amount.negated() }));

/** The first parts above zero that come to an amount, or all of them, and what is left of the others. */
export function takeFirst<Part extends GrantPart>(
  parts: readonly Part[],
  amount: Decimal,
): { readonly taken: Part[]; readonly left: Part[] } {
  const taken: Part[] = [];
  const left: Part[] = [];
  let open = amount;
  for (const part of parts) {
    if (!part.amount.greaterThan(ZERO)) continue;
    const first = Decimal.min(open, part.amount);
    if (first.greaterThan(ZERO)) taken.push({ ...part, amount: first });
    if (first.lessThan(part.amount)) left.push({ ...part, amount: part.amount.minus(first) });
    open = open.minus(first);
  }
  return { taken, left };
}
