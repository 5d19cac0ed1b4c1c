/**
 * The words of the rating engine. Everything that is stored or cached is JSON-safe: ids are text,
 * dates are `YYYY-MM-DD`, decimals are decimal text. `Decimal` appears only in what one rating
 * computes. Facts are read-only: compiled forms are remembered by object identity, so a changed
 * service, line or card must come as a new object (docs/decisions/0017).
 */
import type { Decimal } from '../kernel/numbers/money.js';
import type { AccountShare, Share } from '../kernel/numbers/share.js';
import type { Frequency } from '../kernel/time/period.js';

export const rejectionCodes = [
  'INVALID_EVENT',
  'ACCOUNT_NOT_FOUND',
  'ACCOUNT_INACTIVE',
  'SERVICE_NOT_FOUND',
  'SERVICE_INACTIVE',
  'INSTANCE_NOT_FOUND',
  'NO_RATE_CARD',
  'UNKNOWN_DIMENSION',
  'INVALID_DIMENSION',
  'NO_MATCHING_ROW',
  'VOLUME_ABOVE_TIERS',
  'FORMULA_ERROR',
  'FORMULA_TOO_EXPENSIVE',
] as const;
export type RejectionCode = (typeof rejectionCodes)[number];

/** Why an event cannot be rated; the message names the thing that has to be mended. */
export interface Rejected {
  readonly ok: false;
  readonly code: RejectionCode;
  readonly message: string;
}

/** A usage event whose form is right; whether its account and service exist is a later question. */
export interface UsageEvent {
  readonly externalTransactionId: string;
  readonly serviceId: string;
  /** The instant in UTC, `YYYY-MM-DDTHH:mm:ss.sssZ`, with up to 6 digits of a second. */
  readonly timestamp: string;
  /** The calendar date of that instant in UTC. */
  readonly date: string;
  /** `billingAccountRef` on the wire: the external id of an account. */
  readonly accountRef: string;
  readonly dimensions: ReadonlyMap<string, string>;
  readonly quantity: Decimal | null;
  readonly serviceInstanceId: string | null;
  readonly priceUnitLabel: string | null;
  /** Of an event whose message is gone: the values that its charges say were counted, by attribute. */
  readonly counted?: ReadonlyMap<string, string>;
}

export type UsageEventRead = { readonly ok: true; readonly event: UsageEvent } | Rejected;

/** What rating has to know, as the database has it. `null` says that there is no such record. */
export interface RatingContext {
  readonly account: AccountFacts | null;
  readonly service: ServiceFacts | null;
  /** The lines of contracts whose master account is `account`; those of other services are skipped. */
  readonly lines: readonly LineFacts[];
  /** Discounts of the account, its contracts and their lines, of whatever days; others do not count. */
  readonly adjustments?: readonly DiscountFacts[] | null;
}

export type DiscountKind = 'discountPercent' | 'discountAmount';

/** A discount of an account, of a contract or of a line. */
export interface DiscountFacts {
  readonly id: string;
  readonly kind: DiscountKind;
  /** Percent, or an amount of `currency`: decimal text. */
  readonly value: string;
  /** `null` of percents that hold in any currency. */
  readonly currency: string | null;
  readonly scope: 'account' | 'contract' | 'line';
  /** Of a line the first of those that replaced each other. */
  readonly scopeId: string;
  /** `null`: of every service. */
  readonly serviceId: string | null;
  /** The days on which it holds, `[from, to)`. */
  readonly from: string;
  readonly to: string | null;
}

export interface AccountFacts {
  readonly id: string;
  readonly externalId: string;
  readonly isActive: boolean;
  readonly defaultCurrency: string | null;
}

export interface ServiceFacts {
  readonly id: string;
  readonly name: string;
  readonly code: string | null;
  readonly isActive: boolean;
  readonly currency: string | null;
  readonly attributes: readonly AttributeFacts[];
  /** Every version of every currency. */
  readonly cards: readonly CardFacts[];
  readonly logics: readonly LogicFacts[];
}

export type AttributeKind = 'PRICEABLE' | 'INPUT' | 'TRANSACTION';

/**
 * How a counter takes up usage: their sum, the greatest, the last in the order of the log, or how many
 * values of a dimension there were.
 */
export const aggregations = ['SUM', 'MAX', 'LAST', 'UNIQUE'] as const;
export type Aggregation = (typeof aggregations)[number];

export interface AttributeFacts {
  readonly id: string;
  readonly name: string;
  readonly kind: AttributeKind;
  /** Number, String, Boolean or Date. */
  readonly dataType: string;
  readonly isMeter: boolean;
  readonly resetFrequency: string | null;
  /** Left out: SUM. */
  readonly aggregation?: Aggregation;
  /** Of UNIQUE: the dimension whose values are counted. */
  readonly uniqueDimension?: string | null;
}

/** A contract service. */
export interface LineFacts {
  readonly id: string;
  /** The first of the lines that replaced each other: counters belong to it. */
  readonly lineageId: string;
  readonly contractId: string;
  readonly contractNumber: string;
  readonly contractCurrency: string | null;
  readonly serviceId: string;
  readonly serviceInstanceId: string | null;
  /** The line's own start, else its contract's; `null` when it has always run. */
  readonly startDate: string | null;
  /** The last day, inclusive, as is `terminationDate`. */
  readonly endDate: string | null;
  readonly terminationDate: string | null;
  readonly attributes: readonly AttributeFacts[];
  /** Exception cards: every version of every currency. */
  readonly cards: readonly CardFacts[];
  /** Who bears its charges, where that is not its account alone. */
  readonly shares?: readonly AccountShare[];
}

export interface CardFacts {
  readonly id: string;
  readonly currency: string;
  readonly versionNo: number;
  readonly fromDate: string;
  readonly toDate: string | null;
  readonly rows: readonly RowFacts[];
}

export interface RowFacts {
  readonly id: string;
  readonly attributeId: string;
  readonly attributeName: string;
  readonly label: string;
  /** Charge or Payout; anything else counts as Charge. */
  readonly usageType: string | null;
  readonly billingAccountId: string | null;
  /** The name of one of `price-methods/`. */
  readonly priceMethod: string;
  /** The price method's own JSON, its decimals as text. */
  readonly rates: unknown;
  readonly attributeValues: readonly AttributeValue[];
}

export interface AttributeValue {
  readonly name: string;
  readonly value: string;
}

export interface LogicFacts {
  readonly id: string;
  readonly seqNo: number;
  readonly name: string;
  readonly chargeType: string | null;
  readonly usageType: string | null;
  /** The name of the step that holds the price. */
  readonly priceOutput: string;
  readonly steps: readonly StepFacts[];
}

export interface StepFacts {
  readonly name: string;
  readonly label: string | null;
  readonly formula: string;
}

/** What a price is for. Usage events are 'Usage'; a billing run asks for the others. */
export type ChargeType = 'Usage' | 'Subscription' | 'OTC';
export type UsageType = 'Charge' | 'Payout';

/**
 * Everything that, with an event and the counters before it, gives its price: kept beside a rated
 * transaction, it lets anyone recompute the price when catalog and contract have long changed.
 */
export interface RatingPlan {
  readonly service: { readonly id: string; readonly name: string; readonly code: string | null };
  readonly charge: ChargeType;
  readonly currency: string;
  /** Those of the service and of the line by name, the line's winning. */
  readonly attributes: readonly PlanAttribute[];
  readonly card: PlanCard;
  readonly logics: readonly LogicFacts[];
  /** Who bears what is charged to the event's own account; left out where that account does. */
  readonly shares?: readonly AccountShare[];
  /** What comes off each charge, in this order; left out where nothing does. */
  readonly discounts?: readonly PlanDiscount[];
}

export type PlanDiscount = Pick<DiscountFacts, 'id' | 'kind' | 'value'>;

export interface PlanAttribute {
  readonly name: string;
  readonly kind: AttributeKind;
  readonly dataType: string;
  readonly isMeter: boolean;
  readonly resetFrequency: string | null;
  /** Left out: SUM. */
  readonly aggregation?: Aggregation;
  /** Of UNIQUE: the dimension whose values are counted. */
  readonly uniqueDimension?: string;
  /** Whether the service has an attribute of this name, or the line alone. */
  readonly isOfService: boolean;
}

export interface PlanCard {
  readonly id: string;
  readonly source: 'exception' | 'catalog';
  readonly versionNo: number;
  readonly fromDate: string;
  readonly rows: readonly RowFacts[];
}

/** Who used it: with the plan and the event this is all that a price depends on, beside counters. */
export interface UsageOwner {
  readonly accountId: string;
  readonly line: PlanLine | null;
}

export interface PlanLine {
  readonly id: string;
  readonly lineageId: string;
  readonly contractId: string;
  readonly contractNumber: string;
  readonly serviceInstanceId: string | null;
}

/**
 * A usage counter. It is known by the attribute's name, not its id, because a replaced collection
 * gets new ids while the usage of the period goes on (docs/decisions/0011).
 */
export interface CounterKey {
  readonly ownerType: 'line' | 'account';
  readonly ownerId: string;
  readonly serviceId: string;
  readonly attributeName: string;
  readonly frequency: Frequency | 'none';
  /** First day of the period, and the first day after it. */
  readonly periodStart: string;
  readonly periodEnd: string;
}

/** Volumes so far by `counterKey()` text; no value means zero. A `Map` will do where nothing is UNIQUE. */
export interface CounterReader {
  get(key: string): Decimal | undefined;
  /** Whether a UNIQUE counter has counted a value, which is named by its `contentId`. */
  hasCounted?(key: string, value: string): boolean;
}

export interface CounterChange {
  readonly key: CounterKey;
  readonly keyText: string;
  readonly before: Decimal;
  readonly after: Decimal;
  /** The value that a UNIQUE counter was asked to count, and whether it was the first to bring it. */
  readonly value?: CountedValue;
}

export interface CountedValue {
  /** A `contentId` of the counter and the value: what people send is kept nowhere else. */
  readonly id: string;
  readonly isNew: boolean;
}

/** One priced row of a rated transaction. */
export interface RatedDimension {
  readonly rowId: string;
  readonly rowLabel: string;
  readonly attributeId: string;
  readonly attributeName: string;
  readonly volume: Decimal;
  /** The row's own rate; of tiers the average at 10 places (0 for no volume). */
  readonly rate: Decimal;
  /** At 10 places. Without pricing logic these sum to the transaction's amount and its discount. */
  readonly calcAmount: Decimal;
  readonly priceMethod: string;
  readonly usageType: UsageType;
  readonly counter: CounterChange | null;
  /** What several accounts share, where `volume` and `calcAmount` are the part of one of them. */
  readonly whole?: { readonly volume: Decimal; readonly calcAmount: Decimal };
}

/**
 * One per event, usage type and billed account (spec/rating.md R51), and where the
 * charges of a line are shared, one for each account that bears them.
 */
export interface RatedTransaction {
  readonly usageType: UsageType;
  readonly billedAccountId: string;
  readonly chargeType: ChargeType;
  /** At 10 places, after discount; the invoice item rounds it to the currency's minor unit, once. */
  readonly amount: Decimal;
  /** What discounts took off, so that `amount` and it are the price. */
  readonly discount: Decimal;
  readonly currency: string;
  readonly quantity: Decimal;
  readonly dimensions: readonly RatedDimension[];
  /** Where several accounts share it: which part this is, and the amount of all. */
  readonly share?: Share & { readonly amount: Decimal };
}

export interface Rated {
  readonly ok: true;
  /** At least one. */
  readonly transactions: readonly RatedTransaction[];
  /** Where the counters stand after this event; one entry per counter it touched. */
  readonly counterChanges: readonly CounterChange[];
}
