import { sum, ZERO } from '../../kernel/numbers/money.js';
import {
  exactPartOf,
  partOf,
  stretchesOf,
  type AccountShare,
  type ShareOfAccount,
} from '../../kernel/numbers/share.js';
import type { Prepared } from '../prepare-event.js';
import { Rejection } from '../rejection.js';
import { partCost } from '../operation-budget.js';
import type { TransactionWithOrigin } from './total.js';
import type { RatedDimension, RatedTransaction } from '../types.js';

const stretchesByShares = new WeakMap<readonly AccountShare[], readonly ShareOfAccount[]>();

/** Computed once for each plan: every event of the line needs them. */
function knownStretches(shares: readonly AccountShare[]): readonly ShareOfAccount[] {
  const known = stretchesByShares.get(shares) ?? stretchesOf(shares);
  stretchesByShares.set(shares, known);
  return known;
}

/** The stage `share`: charges among the accounts that bear them; too many parts cost too much. */
export function share(
  { plan, cost }: Prepared,
  whole: readonly TransactionWithOrigin[],
): readonly TransactionWithOrigin[] {
  const { shares } = plan;
  if (!shares) return whole;
  const parts = countParts(whole, shares);
  cost.operations += parts * partCost;
  const most = Math.floor(cost.operationsMax / partCost);
  if (parts > most) {
    throw new Rejection(
      'FORMULA_TOO_EXPENSIVE',
      `The ${shares.length} accounts that share the contract service would bear ${parts} parts of ` +
        `this event's charges: at most ${most}`,
    );
  }
  return shareOrigins(whole, shares);
}

/** How many parts the charges of an event are divided into: amounts of transactions and of dimensions. */
function countParts(
  origins: readonly TransactionWithOrigin[],
  shares: readonly AccountShare[],
): number {
  const shared = origins.filter(({ isShared }) => isShared);
  const amounts = shared.reduce(
    (sum, { transaction }) => sum + 1 + transaction.dimensions.length,
    0,
  );
  return amounts * shares.length;
}

/**
 * Divides what is charged to the account of a line among those that bear it (docs/decisions/0244): a
 * transaction for each, whose amounts, volumes and quantities add up to the whole.
 */
function shareOrigins(
  origins: readonly TransactionWithOrigin[],
  shares: readonly AccountShare[],
): TransactionWithOrigin[] {
  const stretches = knownStretches(shares);
  return origins.flatMap((origin) =>
    origin.isShared
      ? stretches.map((stretch) => ({
          ...origin,
          transaction: partOfTransaction(origin.transaction, stretch, origin.runs.length === 0),
        }))
      : [origin],
  );
}

function partOfTransaction(
  whole: RatedTransaction,
  { accountId, ...share }: ShareOfAccount,
  isSumOfRows: boolean,
): RatedTransaction {
  const dimensions = whole.dimensions.map((dimension): RatedDimension => {
    const { volume, calcAmount } = dimension;
    return {
      ...dimension,
      volume: exactPartOf(volume, share),
      calcAmount: partOf(calcAmount, share),
      whole: { volume, calcAmount },
    };
  });
  // What rows, or logic, come to; of it the part of the discount, so that both add up.
  const price = isSumOfRows
    ? sum(dimensions.map(({ calcAmount }) => calcAmount))
    : partOf(whole.amount.plus(whole.discount), share);
  const discount = whole.discount.isZero() ? ZERO : partOf(whole.discount, share);
  return {
    ...whole,
    billedAccountId: accountId,
    amount: price.minus(discount),
    discount,
    dimensions,
    quantity: exactPartOf(whole.quantity, share),
    // Before discounts, as rows and steps are.
    share: { ...share, amount: whole.amount.plus(whole.discount) },
  };
}
