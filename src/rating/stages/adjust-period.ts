import { compareDecimals, ZERO, type Decimal } from '../../kernel/numbers/money.js';

/** The adjustments of a whole period, in the order in which they are applied. */
export const periodKinds = ['maximum', 'minimum', 'commitment'] as const;
export type PeriodKind = (typeof periodKinds)[number];

/**
 * The stage `adjust` of a whole period: what an adjustment adds to what the period came to. A maximum
 * holds at every moment; what a minimum or a commitment asks for is known when the period is over.
 *
 * A commitment of 1,000 of which 700 were spent adds 300, a maximum of 500 takes 200 off.
 */
export function adjustPeriod(
  kind: PeriodKind,
  value: Decimal,
  spent: Decimal,
  isOver: boolean,
): Decimal {
  const difference = value.minus(spent);
  if (kind === 'maximum') return compareDecimals(difference, ZERO) < 0 ? difference : ZERO;
  return isOver && compareDecimals(difference, ZERO) > 0 ? difference : ZERO;
}
