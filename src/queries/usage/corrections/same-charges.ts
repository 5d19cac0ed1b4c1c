import type { RatedTransaction as StoredCharge } from '../../../models/usage/rated-transaction.js';
import type { Prepared, Rated, RatedTransaction } from '../../../rating/index.js';
import { chargeOf } from '../rated-transaction.js';
import { isChargeOf } from '../usage-explanation.js';
import type { RecordedEvent } from './recorded-event.js';

/**
 * Whether an event that is rated again comes to the charges that it has: the same amounts, quantities
 * and priced rows, and with `withFacts` also of the same accounts, day and contract.
 */
export function isSameCharge(
  { charges }: RecordedEvent,
  prepared: Prepared,
  { transactions }: Rated,
  withFacts: boolean,
): boolean {
  return (
    charges.length === transactions.length &&
    transactions.every((charge) => {
      const stored = storedOf(charges, charge);
      if (!stored || !isSameAmount(stored, charge)) return false;
      return !withFacts || isSameFact(stored, prepared, charge);
    })
  );
}

/** The stored charge of the same account, kind and currency. */
export const storedOf = <
  Charge extends Pick<StoredCharge, 'currency' | 'accountId' | 'usageType' | 'shareOf'>,
>(
  charges: readonly Charge[],
  charge: RatedTransaction,
): Charge | undefined =>
  charges.find(
    (stored) =>
      stored.currency === charge.currency &&
      isChargeOf(stored.accountId, stored.usageType, stored.shareOf !== null)(charge),
  );

function isSameAmount(stored: StoredCharge, charge: RatedTransaction): boolean {
  const { amount, quantity, dimensions } = charge;
  return (
    amount.equals(stored.amount) &&
    quantity.equals(stored.quantity) &&
    dimensions.length === stored.dimensions.length &&
    dimensions.every((row, index) => {
      const old = stored.dimensions[index];
      return (
        old?.dimensionName === row.attributeName &&
        row.volume.equals(old.volume) &&
        row.calcAmount.equals(old.calcAmount) &&
        row.rate.equals(old.rate)
      );
    })
  );
}

function isSameFact(stored: StoredCharge, prepared: Prepared, charge: RatedTransaction): boolean {
  const of = chargeOf(prepared, charge);
  return (
    stored.transactionDate === of.transactionDate &&
    stored.masterAccountId === of.masterAccountId &&
    stored.serviceInstanceId === of.serviceInstanceId &&
    stored.contractId === of.contractId
  );
}
