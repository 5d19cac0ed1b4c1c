import type { Decimal } from '../../../kernel/numbers/money.js';
import { decimalText } from '../../../kernel/numbers/money.js';
import type { RatedTransaction as StoredCharge } from '../../../models/usage/rated-transaction.js';
import { StoredRatingPlan } from '../../../models/usage/rating-plan.js';
import { counterIdOf } from '../../../models/usage/usage-counter.js';
import type { Prepared, Rated } from '../../../rating/index.js';
import type { RecordedEvent } from '../corrections/recorded-event.js';
import { storedOf } from '../corrections/same-charges.js';

/** What a charge would be rated with, to explain it. */
export interface Origin {
  readonly planId: string;
  readonly accountId: string;
  readonly lineId: string | null;
  readonly contractId: string | null;
  /** Where the counters stand before it, as decimal text by their ids. */
  readonly counters: Readonly<Record<string, string>>;
  /** The UNIQUE counters that had counted its value already; left out where there are none. */
  readonly counted?: readonly string[];
}

/** A charge in the books, and as it would be; amounts are decimal text, null: there is none. */
export interface PairedCharge {
  readonly eventId: string;
  readonly beforeId: string | null;
  readonly before: string | null;
  readonly after: string | null;
  readonly currency: string;
  readonly usageType: string;
  readonly isShared: boolean;
  /** Null: it is as in the books. */
  readonly origin: Origin | null;
}

/** As it is kept: an array, since there are millions. */
type Packed = readonly [
  eventId: string,
  beforeId: string | null,
  before: string | null,
  after: string | null,
  currency: string,
  usageType: string,
  isShared: 0 | 1,
  origin: Origin | null,
];

export const packCharges = (charges: readonly PairedCharge[]): string =>
  JSON.stringify(
    charges.map((one): Packed => {
      const { eventId, beforeId, before, after, currency, usageType, isShared, origin } = one;
      return [eventId, beforeId, before, after, currency, usageType, isShared ? 1 : 0, origin];
    }),
  );

export const unpackCharges = (text: string): PairedCharge[] =>
  (JSON.parse(text) as Packed[]).map(
    ([eventId, beforeId, before, after, currency, usageType, isShared, origin]) => ({
      eventId,
      beforeId,
      before,
      after,
      currency,
      usageType,
      isShared: isShared === 1,
      origin,
    }),
  );

/** A pair with the account that is billed. */
export type BilledPair = readonly [accountId: string, pair: PairedCharge];

const pairOf = (
  eventId: string,
  stored: StoredCharge,
  after: string | null,
  origin: Origin | null,
): BilledPair => [
  stored.accountId,
  {
    eventId,
    beforeId: stored.id,
    before: stored.amount,
    after,
    currency: stored.currency,
    usageType: stored.usageType,
    isShared: stored.shareOf !== null,
    origin,
  },
];

/** The charges of an event that would be as they are. */
export const keptPairs = ({ id, charges }: RecordedEvent): BilledPair[] =>
  charges.map((stored) => pairOf(id, stored, stored.amount, null));

/** The charges of an event as they are, and as they would be. */
export function changedPairs(
  { id, charges }: RecordedEvent,
  prepared: Prepared,
  { transactions, counterChanges }: Rated,
): BilledPair[] {
  const counted = counterChanges.flatMap(({ keyText, value }) =>
    value?.isNew === false ? [counterIdOf(keyText)] : [],
  );
  const origin: Origin = {
    ...(counted.length === 0 ? {} : { counted }),
    planId: StoredRatingPlan.idOf(prepared.plan),
    accountId: prepared.owner.accountId,
    lineId: prepared.owner.line?.id ?? null,
    contractId: prepared.owner.line?.contractId ?? null,
    counters: Object.fromEntries(
      counterChanges.map(({ keyText, before }) => [counterIdOf(keyText), text(before)]),
    ),
  };
  const gone = new Set(charges);
  const made = transactions.map((charge): BilledPair => {
    const stored = storedOf(charges, charge);
    const after = text(charge.amount);
    if (stored && gone.delete(stored)) return pairOf(id, stored, after, origin);
    const { billedAccountId, currency, usageType } = charge;
    const isShared = charge.share !== undefined;
    const pair = { eventId: id, beforeId: null, before: null, after, currency, usageType };
    return [billedAccountId, { ...pair, isShared, origin }];
  });
  return [...made, ...[...gone].map((stored) => pairOf(id, stored, null, null))];
}

const text = (value: Decimal): string => decimalText(value);
