import type { Decimal } from '../../../kernel/numbers/money.js';
import { decimalText } from '../../../kernel/numbers/money.js';
import { chargeId, numberOfCharge } from '../../../messages/usage-log.js';
import type { TriedCharge } from '../../../models/usage/repricing/tried-charge.js';
import { StoredRatingPlan } from '../../../models/usage/plans/rating-plan.js';
import { counterIdOf } from '../../../models/usage/usage-counter.js';
import type { Prepared, Rated } from '../../../rating/index.js';
import { storedOf } from '../corrections/same-charges.js';
import type { TriedEvent } from './repricer.js';

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

/** As versions before 0443 have kept it, one array of these in a row. */
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

/** What most charges of a row were rated with in common. */
type PackedOrigin = readonly [
  planId: string,
  accountId: string,
  lineId: string | null,
  contractId: string | null,
];

/** A charge without what it has in common with others; numbers count charges and origins from 1, 0: none. */
type PackedCharge = readonly [
  eventId: string,
  number: number,
  before: string | null,
  after: string | null,
  currency: string,
  usageType: string,
  isShared: 0 | 1,
  origin: number,
  counters?: Origin['counters'],
  counted?: Origin['counted'],
];

/** As charges are kept: there are millions (docs/decisions/0443). */
interface PackedRow {
  readonly origins: readonly PackedOrigin[];
  readonly charges: readonly PackedCharge[];
}

export function packCharges(charges: readonly PairedCharge[]): string {
  const origins: PackedOrigin[] = [];
  const places = new Map<string, number>();
  const placeOf = ({ planId, accountId, lineId, contractId }: Origin): number => {
    const key = `${planId}/${accountId}/${lineId}/${contractId}`;
    let place = places.get(key);
    if (place === undefined) {
      place = origins.push([planId, accountId, lineId, contractId]);
      places.set(key, place);
    }
    return place;
  };
  const packed = charges.map((one): PackedCharge => {
    const { eventId, beforeId, before, after, currency, usageType, origin } = one;
    const number = beforeId === null ? 0 : numberOfCharge(beforeId);
    const common = [
      eventId,
      number,
      before,
      after,
      currency,
      usageType,
      one.isShared ? 1 : 0,
    ] as const;
    if (origin === null) return [...common, 0];
    const { counters, counted } = origin;
    const place = placeOf(origin);
    return counted ? [...common, place, counters, counted] : [...common, place, counters];
  });
  return JSON.stringify({ origins, charges: packed } satisfies PackedRow);
}

export function unpackCharges(text: string): PairedCharge[] {
  const packed = JSON.parse(text) as PackedRow | readonly Packed[];
  if (!('origins' in packed)) return packed.map(unpackWhole);
  return packed.charges.map(
    ([
      eventId,
      number,
      before,
      after,
      currency,
      usageType,
      isShared,
      place,
      counters,
      counted,
    ]) => ({
      eventId,
      beforeId: number === 0 ? null : chargeId(eventId, number),
      before,
      after,
      currency,
      usageType,
      isShared: isShared === 1,
      origin: originOf(packed.origins[place - 1], counters, counted),
    }),
  );
}

function originOf(
  common: PackedOrigin | undefined,
  counters: Origin['counters'] = {},
  counted?: Origin['counted'],
): Origin | null {
  if (!common) return null;
  const [planId, accountId, lineId, contractId] = common;
  return { planId, accountId, lineId, contractId, counters, ...(counted ? { counted } : {}) };
}

const unpackWhole = ([
  eventId,
  beforeId,
  before,
  after,
  currency,
  usageType,
  isShared,
  origin,
]: Packed): PairedCharge => ({
  eventId,
  beforeId,
  before,
  after,
  currency,
  usageType,
  isShared: isShared === 1,
  origin,
});

/** A pair with the account that is billed. */
export type BilledPair = readonly [accountId: string, pair: PairedCharge];

const pairOf = (
  eventId: string,
  stored: TriedCharge,
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
export const keptPairs = ({ id, charges }: TriedEvent): BilledPair[] =>
  charges.map((stored) => pairOf(id, stored, stored.amount, null));

/** The charges of an event as they are, and as they would be. */
export function changedPairs(
  { id, charges }: TriedEvent,
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
