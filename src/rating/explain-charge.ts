import { Decimal, decimalText } from '../kernel/numbers/money.js';
import { shareText, type Share } from '../kernel/numbers/share.js';
import type { DiscountStep } from './stages/adjust.js';
import { aggregationOf, type LogicRun, type Pricing } from './stages/price.js';
import type { PackageCount } from './price-methods/price-method.js';
import type { Prepared, QuantitySource } from './prepare-event.js';
import { rateWithOrigin } from './pipeline.js';
import type { TransactionWithOrigin } from './stages/total.js';
import { orRejected } from './rejection.js';
import type {
  Aggregation,
  AttributeValue,
  CounterKey,
  CounterReader,
  DiscountKind,
  PlanCard,
  PlanLine,
  Rated,
  Rejected,
  RowFacts,
  UsageType,
} from './types.js';

/** How one rated transaction came about. JSON-safe: decimals are exact decimal text. */
export interface Explanation {
  readonly date: string;
  readonly service: { readonly id: string; readonly name: string; readonly code: string | null };
  readonly contractLine: ExplainedLine | null;
  readonly card: ExplainedCard;
  readonly usageType: UsageType;
  readonly billedAccountId: string;
  /** Where several accounts bear it: rows, steps and parts are of the whole, the total of this one. */
  readonly share?: ExplainedShare;
  readonly rows: readonly ExplainedRow[];
  /** Every formula step in the order in which it ran; empty without pricing logic. */
  readonly steps: readonly ExplainedStep[];
  /** What discounts made of the price, in their order; left out where there are none. */
  readonly adjustments?: readonly ExplainedAdjustment[];
  readonly total: ExplainedTotal;
  /** The grants that paid it, and how much of it; left out where none did. */
  readonly credits?: readonly ExplainedCredit[];
  /** Rows and steps that are missing above, because an explanation has at most 1 MiB. */
  readonly leftOut?: number;
}

/** A discount of a charge; `before` and `after` are exact, before any rounding. */
export interface ExplainedAdjustment {
  readonly adjustmentId: string;
  readonly kind: DiscountKind;
  readonly value: string;
  readonly before: string;
  readonly after: string;
}

/** What a grant of a wallet has paid of a charge. */
export interface ExplainedCredit {
  readonly walletId: string;
  readonly grantId: string;
  /** The grant's externalId. */
  readonly externalId: string;
  readonly kind: 'purchased' | 'promotional';
  readonly amount: string;
}

/** What an account bears of a whole: `part` is "1 of 3". */
export interface ExplainedShare {
  readonly part: string;
  /** Where the part begins and ends: amounts are rounded at both, so that all parts add up. */
  readonly from: string;
  readonly to: string;
  readonly of: string;
  readonly whole: string;
}

/** The version of the card that was in force. */
export type ExplainedCard = Omit<PlanCard, 'rows'> & {
  readonly currency: string;
  /** Said where the usage is older than the first version, which prices it then. */
  readonly note?: string;
};

/** The contract line that a charge was rated under. */
export type ExplainedLine = Omit<PlanLine, 'lineageId'>;

export interface ExplainedRow {
  readonly row: {
    readonly id: string;
    readonly label: string;
    readonly attributeName: string;
    readonly priceMethod: string;
    readonly rates: unknown;
  };
  /** The attribute values of the row, all of which the event has. */
  readonly matched: readonly AttributeValue[];
  readonly quantity: string;
  readonly quantityFrom: QuantitySource;
  /** The formula step that asked for this price. */
  readonly step: string | null;
  readonly counter: ExplainedCounter | null;
  /** Where the counter is no sum: the price is that of it after, less that of it before. */
  readonly aggregation?: Aggregation;
  /**
   * The stretches (from, to] of the volume that each tier priced; of VOLUME the whole of it, and, with
   * the opposite sign, what was charged for it before. Empty for other methods.
   */
  readonly tiers: readonly ExplainedTier[];
  /** Of packages: how many were begun before the usage, and with it. */
  readonly packages?: { readonly size: string; readonly before: string; readonly after: string };
  readonly rate: string;
  /** Exact, before any rounding. */
  readonly amount: string;
}

export interface ExplainedCounter extends CounterKey {
  readonly before: string;
  readonly after: string;
}

export interface ExplainedTier {
  readonly tierNum: number;
  readonly from: string;
  readonly to: string;
  readonly volume: string;
  readonly unitRate: string;
  readonly isFlat: boolean;
  readonly amount: string;
}

export interface ExplainedStep {
  readonly logic: string;
  readonly name: string;
  readonly label: string | null;
  readonly formula: string;
  readonly value: string;
}

/** `amount` is the sum of the parts less discounts, rounded to 10 places half away from zero. */
export interface ExplainedTotal {
  readonly method: 'sum of rows' | 'sum of pricing logic';
  /** Row labels, or `<logic>: <output step>`, with their exact amounts. */
  readonly parts: readonly { readonly name: string; readonly amount: string }[];
  readonly amount: string;
  readonly currency: string;
}

export interface Explained extends Rated {
  /** One per transaction, in their order. */
  readonly explanations: readonly Explanation[];
}

/** The rating of `ratePrepared`, and how it came about: another reading of the same computation. */
export function explain(prepared: Prepared, counters: CounterReader): Explained | Rejected {
  return orRejected(() => {
    const { rated, origins } = rateWithOrigin(prepared, counters);
    const room: Room = { rows: roomForRows, steps: roomForSteps };
    const explanations = origins.map((origin) => explainOrigin(prepared, origin, room));
    return { ...rated, explanations };
  });
}

/** What the explanations of one event may have, in characters of JSON. */
const roomForRows = 512 * 1024;
const roomForSteps = 512 * 1024;
/** A step may have the value of a dimension, which may be as long as the whole event. */
const valueLengthMax = 1_000;

/** How much of it is left. */
interface Room {
  rows: number;
  steps: number;
}

/** The first of some parts, as many as there is room for. */
function fitting<T>(
  parts: readonly T[],
  room: Room,
  kind: keyof Room,
  weigh: (part: T) => number,
): readonly T[] {
  let count = 0;
  for (const part of parts) {
    const weight = weigh(part);
    if (weight > room[kind]) break;
    room[kind] -= weight;
    count += 1;
  }
  return count === parts.length ? parts : parts.slice(0, count);
}

/** About what a counter, a tier, and the other fields of a row or step are in JSON. */
const partWeight = 400;
const tierWeight = 250;
const rowWeights = new WeakMap<RowFacts, number>();

function weighPricing({ row, price }: Pricing): number {
  let weight = rowWeights.get(row.facts);
  if (weight === undefined) {
    weight = JSON.stringify(row.facts).length;
    rowWeights.set(row.facts, weight);
  }
  return partWeight + weight + tierWeight * (price.tiers?.length ?? 0);
}

const weighStep = ({ formula, value, label, logic, name }: ExplainedStep): number =>
  partWeight + formula.length + value.length + (label?.length ?? 0) + logic.length + name.length;

function explainOrigin(prepared: Prepared, origin: TransactionWithOrigin, room: Room): Explanation {
  const { event, plan, owner } = prepared;
  const { id, source, versionNo, fromDate } = plan.card;
  const { pricings, runs, transaction } = origin;
  const { share } = transaction;
  const rows = fitting(pricings, room, 'rows', weighPricing).map(explainRow);
  const allSteps = runs.flatMap(explainSteps);
  const steps = fitting(allSteps, room, 'steps', weighStep);
  const leftOut = pricings.length - rows.length + (allSteps.length - steps.length);
  return {
    date: event.date,
    service: plan.service,
    contractLine: explainLine(owner.line),
    card: {
      id,
      source,
      currency: plan.currency,
      versionNo,
      fromDate,
      ...(event.date < fromDate ? { note: noteOfOlder(event.date, fromDate) } : {}),
    },
    usageType: transaction.usageType,
    billedAccountId: transaction.billedAccountId,
    ...(share ? { share: explainShare(share, share.amount) } : {}),
    rows,
    steps,
    ...(origin.discounts.length === 0 ? {} : { adjustments: explainDiscounts(origin.discounts) }),
    total: explainTotal(origin),
    ...(leftOut === 0 ? {} : { leftOut }),
  };
}

const noteOfOlder = (date: string, fromDate: string): string =>
  `There was no version before ${fromDate}: the first one prices the usage of ${date}.`;

/** Discounts as an explanation shows them. */
export const explainDiscounts = (steps: readonly DiscountStep[]): ExplainedAdjustment[] =>
  steps.map(({ id, kind, value, before, after }) => ({
    adjustmentId: id,
    kind,
    value,
    before: decimalText(before),
    after: decimalText(after),
  }));

/** A share of an amount. */
export const explainShare = (share: Share, whole: Decimal): ExplainedShare => ({
  part: shareText(share),
  from: decimalText(share.from),
  to: decimalText(share.to),
  of: decimalText(share.of),
  whole: decimalText(whole),
});

function explainLine(line: PlanLine | null): ExplainedLine | null {
  if (!line) return null;
  const { id, contractId, contractNumber, serviceInstanceId } = line;
  return { id, contractId, contractNumber, serviceInstanceId };
}

function explainRow({ row, quantity, counter, price, step }: Pricing): ExplainedRow {
  const { id, label, attributeName, priceMethod, rates, attributeValues } = row.facts;
  const aggregation = aggregationOf(row);
  return {
    row: { id, label, attributeName, priceMethod, rates },
    matched: attributeValues,
    quantity: decimalText(quantity.value),
    quantityFrom: quantity.source,
    step,
    counter: counter && {
      ...counter.key,
      before: decimalText(counter.before),
      after: decimalText(counter.after),
    },
    tiers: (price.tiers ?? []).map(({ tierNum, from, to, volume, unitRate, isFlat, amount }) => ({
      tierNum,
      from: decimalText(from),
      to: decimalText(to),
      volume: decimalText(volume),
      unitRate: decimalText(unitRate),
      isFlat,
      amount: decimalText(amount),
    })),
    ...(price.packages ? { packages: explainPackages(price.packages) } : {}),
    ...(aggregation === 'SUM' ? {} : { aggregation }),
    rate: decimalText(price.rate),
    amount: decimalText(price.amount),
  };
}

const explainPackages = ({ size, before, after }: PackageCount) => ({
  size: decimalText(size),
  before: decimalText(before),
  after: decimalText(after),
});

function explainSteps({ logic, values }: LogicRun): ExplainedStep[] {
  return logic.facts.steps.map(({ name, label, formula }, index) => {
    const value = values[index] ?? '';
    const text = Decimal.isDecimal(value) ? decimalText(value) : value;
    const shown = text.length <= valueLengthMax ? text : `${text.slice(0, valueLengthMax)}...`;
    return { logic: logic.facts.name, name, label, formula, value: shown };
  });
}

function explainTotal({ transaction, pricings, runs }: TransactionWithOrigin): ExplainedTotal {
  const ofRows = pricings.map(({ row, price }) => ({
    name: row.facts.label,
    amount: decimalText(price.amount),
  }));
  const ofLogics = runs.map(({ logic, output }) => ({
    name: `${logic.facts.name}: ${logic.facts.priceOutput}`,
    amount: decimalText(output),
  }));
  return {
    method: runs.length > 0 ? 'sum of pricing logic' : 'sum of rows',
    parts: runs.length > 0 ? ofLogics : ofRows,
    amount: decimalText(transaction.amount),
    currency: transaction.currency,
  };
}
