import { contentId } from '../id.js';
import { amountPlaces, type Decimal, roundToMinorUnit, ZERO } from './money.js';

/**
 * The interval of a whole that an account bears: from, to, of. Intervals of one whole are adjacent.
 */
export interface Share {
  readonly from: Decimal;
  readonly to: Decimal;
  readonly of: Decimal;
}

/** What an account bears of the charges of a line; weights need not add up to anything. */
export interface AccountShare {
  readonly accountId: string;
  /** Decimal text above 0. */
  readonly weight: string;
}

/** A share with the account that bears it. */
export interface ShareOfAccount extends Share {
  readonly accountId: string;
}

/** The stretches of shares, in the order of the accounts' ids. */
export function stretchesOf(shares: readonly AccountShare[]): ShareOfAccount[] {
  const sorted = [...shares].sort((a, b) => (a.accountId < b.accountId ? -1 : 1));
  let from = ZERO;
  const stretches = sorted.map(({ accountId, weight }) => {
    const to = from.plus(weight);
    const stretch = { accountId, from, to };
    from = to;
    return stretch;
  });
  return stretches.map((stretch) => ({ ...stretch, of: from }));
}

/**
 * The part of a whole that a share bears: rounded at its end, less rounded at its beginning. So the
 * parts of all shares add up to the rounded whole exactly, whichever are computed, in any order
 * (docs/decisions/0244).
 */
export function partOf(whole: Decimal, { from, to, of }: Share, places = amountPlaces): Decimal {
  const until = (end: Decimal): Decimal =>
    roundToMinorUnit(end.eq(of) ? whole : whole.times(end).div(of), places);
  return until(to).minus(until(from));
}

/** The same without rounding: the last share gets the remainder. */
export const exactPartOf = (whole: Decimal, share: Share): Decimal =>
  partOf(whole, share, Math.max(amountPlaces, whole.decimalPlaces()));

/** Identifies the shares of a line; null where its account bears all. */
export function sharesKey(shares: readonly AccountShare[] = []): string | null {
  if (shares.length === 0) return null;
  const sorted = stretchesOf(shares).map(({ accountId, to }) => [accountId, to.toFixed()]);
  return contentId(JSON.stringify(sorted));
}

/** A share as people read it: "1 of 3". */
export const shareText = ({ from, to, of }: Share): string =>
  `${to.minus(from).toFixed()} of ${of.toFixed()}`;
