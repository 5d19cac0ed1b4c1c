/**
 * Recurring charges that accounts may come to which are billed together, and so one account in one run
 * (docs/decisions/0280): what is computed for all of them is in memory at the same time. As many as an
 * account may have lines.
 */
export const chargesMax = 20_000;

/** What of usage may be in memory when it is billed together (docs/decisions/0312). */
export const usageLimits = {
  groupsMax: 100_000,
  /** Of one account. */
  itemsMax: chargesMax,
  tiersMax: 200_000,
};

/** Accounts have more to be charged than can be billed together. */
export class TooManyCharges extends Error {
  override readonly name = 'TooManyCharges';

  constructor(
    what = `There are more than ${chargesMax} subscription and one-time charges in this period. Bill it in shorter ones`,
  ) {
    super(`${what}.`);
  }
}
