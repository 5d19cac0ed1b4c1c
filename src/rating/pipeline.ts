import type { Prepared } from './prepare-event.js';
import { orRejected } from './rejection.js';
import { adjust } from './stages/adjust.js';
import { price } from './stages/price.js';
import { share } from './stages/share.js';
import { gather, total, type TransactionWithOrigin } from './stages/total.js';
import type { CounterReader, Rated, Rejected } from './types.js';

/** The charges of a prepared event with the counters as they now stand (spec/rating.md R24 to R54). */
export function ratePrepared(prepared: Prepared, counters: CounterReader): Rated | Rejected {
  return orRejected(() => rateWithOrigin(prepared, counters).rated);
}

/**
 * How a charge comes about, stage by stage: the one order of rating, recurring charges, explanation,
 * simulation and audit, so that they cannot differ. `prepare` has chosen the rows and discounts before.
 *
 * 1. `meter` says where the counters of the priced quantities stand. It is part of `price`, because a
 *    formula may price a quantity that only an earlier step has computed.
 * 2. `price` finds exact prices: of each row, or of the pricing logic over the rows.
 * 3. `adjust` takes discounts off each charge. What holds for a period (maximum, minimum, commitment)
 *    is `stages/adjust-period.ts`, asked by a billing run, which alone knows all charges of it.
 * 4. `credit` lets grants pay. It is `stages/credit-from-grants.ts`, asked by `commands/balances/wallet-ledger.ts`
 *    where charges are written, because what is left of a grant is no fact of the event, and each
 *    account that shares a charge has its own.
 * 5. `total` sums to charges, and `share` divides them among the accounts that bear them. Here amounts
 *    are rounded, once: what changes a price stands before it, so that no rounding is rounded again.
 */
export function rateWithOrigin(
  prepared: Prepared,
  counters: CounterReader,
): { rated: Rated; origins: readonly TransactionWithOrigin[] } {
  const computation = price(prepared, counters);
  const charges = adjust(prepared, gather(prepared, computation));
  const origins = share(prepared, total(prepared, charges));
  const transactions = origins.map(({ transaction }) => transaction);
  const { counterChanges } = computation;
  return { rated: { ok: true, transactions, counterChanges }, origins };
}
