/**
 * Recurring charges that accounts billed together may have at most, and so the maximum of one
 * account in one run (docs/decisions/0280): they are in memory at the same time. It equals the
 * number of lines that an account may have.
 */
export const chargesMax = 20_000;

/** Limits on the usage in memory for accounts that are billed together (docs/decisions/0312). */
export const usageLimits = {
  groupsMax: 100_000,
  /** Of one account. */
  itemsMax: chargesMax,
  tiersMax: 200_000,
};

/** The accounts have more charges than can be billed together. */
export class TooManyCharges extends Error {
  override readonly name = 'TooManyCharges';

  constructor(
    what = `There are more than ${chargesMax} subscription and one-time charges in this period. Bill it in shorter ones`,
  ) {
    super(`${what}.`);
  }
}
