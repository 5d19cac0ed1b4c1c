import {
  amountPlaces,
  ONE,
  roundAmount,
  roundParts,
  sum,
  ZERO,
  type Decimal,
} from '../../kernel/numbers/money.js';
import type { AdjustedCharge, DiscountStep } from './adjust.js';
import type { Computation, LogicRun, Pricing } from './price.js';
import type { Prepared } from '../prepare-event.js';
import { Rejection } from '../rejection.js';
import type { CounterChange, RatedDimension, RatedTransaction, UsageType } from '../types.js';

/** A transaction with the part of the computation that it is the sum of. */
export interface TransactionWithOrigin {
  readonly transaction: RatedTransaction;
  readonly pricings: readonly Pricing[];
  /** Empty when the rows are simply summed. */
  readonly runs: readonly LogicRun[];
  /** Whether it is charged to the event's own account, so that shares of the line divide it. */
  readonly isShared: boolean;
  /** What discounts made of it; empty without. */
  readonly discounts: readonly DiscountStep[];
}

/** What becomes one transaction: the prices whose sum it is, before anything is rounded. */
export interface ExactCharge extends Omit<TransactionWithOrigin, 'transaction' | 'discounts'> {
  readonly usageType: UsageType;
  readonly billedAccountId: string;
  readonly exact: () => Decimal;
}

/** The prices of an event by what they charge together. */
export function gather(prepared: Prepared, computation: Computation): ExactCharge[] {
  return computation.kind === 'rows'
    ? gatherRows(prepared, computation.pricings)
    : gatherLogics(prepared, computation.runs);
}

/** The stage `total`: what is charged, as sums of what was priced, rounded once. */
export function total(
  prepared: Prepared,
  charges: readonly AdjustedCharge[],
): TransactionWithOrigin[] {
  return charges.map((charge) => {
    const { pricings, runs, isShared, usageType, billedAccountId, adjusted } = charge;
    const { amount, dimensions } = runs.length > 0 ? sumLogics(charge) : sumRows(charge);
    const net = adjusted ? roundAmount(adjusted.net) : amount;
    const discount = adjusted ? amount.minus(net) : ZERO;
    const parts = { usageType, billedAccountId, amount: net, discount, dimensions };
    const transaction = toTransaction(prepared, parts);
    return { transaction, pricings, runs, isShared, discounts: adjusted?.steps ?? [] };
  });
}

/** One charge per usage type and billed account, in the order of the first row of each. */
function gatherRows(prepared: Prepared, pricings: readonly Pricing[]): ExactCharge[] {
  const groups = new Map<string, Pricing[]>();
  for (const pricing of pricings) {
    const group = `${pricing.row.usageType}/${groupOf(pricing, prepared)}`;
    const known = groups.get(group);
    if (known) known.push(pricing);
    else groups.set(group, [pricing]);
  }
  return [...groups.values()].map((group) => {
    const [first] = group;
    return {
      usageType: first?.row.usageType ?? 'Charge',
      billedAccountId: first ? billedAccountOf(first, prepared) : prepared.owner.accountId,
      pricings: group,
      runs: [],
      isShared: !first?.row.facts.billingAccountId,
      exact: () => sum(group.map(({ price }) => price.amount)),
    };
  });
}

type Summed = Pick<RatedTransaction, 'amount' | 'dimensions'>;

function sumRows({ pricings }: ExactCharge): Summed {
  const amounts = roundParts(
    pricings.map(({ price }) => price.amount),
    amountPlaces,
  );
  const dimensions = pricings.map((pricing, index) =>
    toDimension([pricing], amounts[index] ?? ZERO),
  );
  return { amount: sum(amounts), dimensions };
}

/** The account that is billed; what accounts share is apart from what a row bills one of them. */
const groupOf = ({ row }: Pricing, { plan, owner }: Prepared): string =>
  row.facts.billingAccountId ?? (plan.shares ? 'shared' : owner.accountId);

/** One charge per usage type of the logics, billed to the event's own account. */
function gatherLogics(prepared: Prepared, runs: readonly LogicRun[]): ExactCharge[] {
  const usageTypes = [...new Set(runs.map(({ logic }) => logic.usageType))];
  return usageTypes.map((usageType) => {
    const ofType = runs.filter(({ logic }) => logic.usageType === usageType);
    const whole = sum(ofType.map(({ output }) => output));
    if (!whole.isFinite()) {
      throw new Rejection('FORMULA_ERROR', 'The sum of the pricing logic is too large');
    }
    return {
      usageType,
      billedAccountId: prepared.owner.accountId,
      pricings: ofType.flatMap(({ pricings }) => pricings),
      runs: ofType,
      isShared: true,
      exact: () => whole,
    };
  });
}

const sumLogics = ({ runs, usageType, exact }: ExactCharge): Summed => ({
  amount: roundAmount(exact()),
  dimensions: runs.flatMap((run) => mergeRows(run.pricings, usageType)),
});

/** One dimension per row, however often the steps of one logic priced it. */
function mergeRows(pricings: readonly Pricing[], usageType: UsageType): RatedDimension[] {
  const byRow = new Map<string, Pricing[]>();
  for (const pricing of pricings) {
    const known = byRow.get(pricing.row.facts.id);
    if (known) known.push(pricing);
    else byRow.set(pricing.row.facts.id, [pricing]);
  }
  return [...byRow.values()].map((ofRow) => {
    const amount = roundAmount(sum(ofRow.map(({ price }) => price.amount)));
    return { ...toDimension(ofRow, amount), usageType };
  });
}

function toDimension(pricings: readonly Pricing[], calcAmount: Decimal): RatedDimension {
  const [first] = pricings;
  if (!first) throw new Error('A dimension is made of at least one pricing');
  const { facts, usageType } = first.row;
  const volume = sum(pricings.map((pricing) => pricing.volume));
  return {
    rowId: facts.id,
    rowLabel: facts.label,
    attributeId: facts.attributeId,
    attributeName: facts.attributeName,
    volume,
    rate:
      pricings.length === 1 || !first.price.tiers ? first.price.rate : average(pricings, volume),
    calcAmount,
    priceMethod: facts.priceMethod,
    usageType,
    counter: mergeCounters(pricings),
  };
}

function average(pricings: readonly Pricing[], volume: Decimal): Decimal {
  if (volume.isZero()) return ZERO;
  return roundAmount(sum(pricings.map(({ price }) => price.amount)).div(volume));
}

/** From before the first pricing of the row to after the last. */
function mergeCounters(pricings: readonly Pricing[]): CounterChange | null {
  const first = pricings[0]?.counter ?? null;
  const last = pricings.at(-1)?.counter ?? null;
  return first && last && { ...first, after: last.after };
}

function toTransaction(
  { event, plan }: Prepared,
  parts: Pick<
    RatedTransaction,
    'usageType' | 'billedAccountId' | 'amount' | 'discount' | 'dimensions'
  >,
): RatedTransaction {
  const [first, ...others] = parts.dimensions;
  // What was priced; of several kinds of units the event's own quantity says more than any of them.
  const quantity = others.length === 0 ? first?.volume : (event.quantity ?? first?.volume);
  return {
    usageType: parts.usageType,
    billedAccountId: parts.billedAccountId,
    chargeType: plan.charge,
    amount: parts.amount,
    discount: parts.discount,
    currency: plan.currency,
    quantity: quantity ?? event.quantity ?? ONE,
    dimensions: parts.dimensions,
  };
}

function billedAccountOf(pricing: Pricing, prepared: Prepared): string {
  return pricing.row.facts.billingAccountId ?? prepared.owner.accountId;
}
