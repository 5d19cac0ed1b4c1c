import type { Prepared } from './prepare.js';
import { orRejected } from './rejection.js';
import { price } from './stages/price.js';
import { share } from './stages/share.js';
import { total, type TransactionWithOrigin } from './stages/total.js';
import type { CounterReader, Rated, Rejected } from './types.js';

/** The charges of a prepared event with the counters as they now stand (spec/rating.md R24 to R54). */
export function ratePrepared(prepared: Prepared, counters: CounterReader): Rated | Rejected {
  return orRejected(() => rateWithOrigin(prepared, counters).rated);
}

/**
 * How a charge comes about, stage by stage: the one order of rating, recurring charges, explanation,
 * simulation and audit, so that they cannot differ. `prepare` has chosen the rows before.
 *
 * 1. `meter` says where the counters of the priced quantities stand. It is part of `price`, because a
 *    formula may price a quantity that only an earlier step has computed.
 * 2. `price` finds exact prices: of each row, or of the pricing logic over the rows.
 * 3. `total` sums them to charges. Here amounts are rounded, once: what changes a price stands before
 *    it, so that no rounding is rounded again.
 * 4. `share` divides charges among the accounts that bear them. It is the last, so that the parts add
 *    up to the charge, whatever came before.
 *
 * What adjusts a price (discounts, minimums) belongs between `price` and `total`. What pays for a charge
 * comes after `share`, since each account has its own: `stages/credit.ts`, asked by
 * `commands/balances/wallet-ledger.ts` where charges are written, because what is left of a grant is no
 * fact of the event.
 */
export function rateWithOrigin(
  prepared: Prepared,
  counters: CounterReader,
): { rated: Rated; origins: readonly TransactionWithOrigin[] } {
  const computation = price(prepared, counters);
  const charges = total(prepared, computation);
  const origins = share(prepared, charges);
  const transactions = origins.map(({ transaction }) => transaction);
  const { counterChanges } = computation;
  return { rated: { ok: true, transactions, counterChanges }, origins };
}
