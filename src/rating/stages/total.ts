import {
  amountPlaces,
  ONE,
  roundAmount,
  roundParts,
  sum,
  ZERO,
  type Decimal,
} from '../../kernel/numbers/money.js';
import type { Computation, LogicRun, Pricing } from './price.js';
import type { Prepared } from '../prepare.js';
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
}

/** The stage `total`: what is charged, as sums of what was priced, rounded once. */
export function total(prepared: Prepared, computation: Computation): TransactionWithOrigin[] {
  return computation.kind === 'rows'
    ? sumRows(prepared, computation.pricings)
    : sumLogics(prepared, computation.runs);
}

/** One transaction per usage type and billed account, in the order of the first row of each. */
function sumRows(prepared: Prepared, pricings: readonly Pricing[]): TransactionWithOrigin[] {
  const groups = new Map<string, Pricing[]>();
  for (const pricing of pricings) {
    const group = `${pricing.row.usageType}/${groupOf(pricing, prepared)}`;
    const known = groups.get(group);
    if (known) known.push(pricing);
    else groups.set(group, [pricing]);
  }
  return [...groups.values()].map((group) => {
    const amounts = roundParts(
      group.map(({ price }) => price.amount),
      amountPlaces,
    );
    const dimensions = group.map((pricing, index) =>
      toDimension([pricing], amounts[index] ?? ZERO),
    );
    const [first] = group;
    const transaction = toTransaction(prepared, {
      usageType: first?.row.usageType ?? 'Charge',
      billedAccountId: first ? billedAccountOf(first, prepared) : prepared.owner.accountId,
      amount: sum(amounts),
      dimensions,
    });
    const isShared = !first?.row.facts.billingAccountId;
    return { transaction, pricings: group, runs: [], isShared };
  });
}

/** The account that is billed; what accounts share is apart from what a row bills one of them. */
const groupOf = ({ row }: Pricing, { plan, owner }: Prepared): string =>
  row.facts.billingAccountId ?? (plan.shares ? 'shared' : owner.accountId);

/** One transaction per usage type of the logics, billed to the event's own account. */
function sumLogics(prepared: Prepared, runs: readonly LogicRun[]): TransactionWithOrigin[] {
  const usageTypes = [...new Set(runs.map(({ logic }) => logic.usageType))];
  return usageTypes.map((usageType) => {
    const ofType = runs.filter(({ logic }) => logic.usageType === usageType);
    const total = sum(ofType.map(({ output }) => output));
    if (!total.isFinite()) {
      throw new Rejection('FORMULA_ERROR', 'The sum of the pricing logic is too large');
    }
    const transaction = toTransaction(prepared, {
      usageType,
      billedAccountId: prepared.owner.accountId,
      amount: roundAmount(total),
      dimensions: ofType.flatMap((run) => mergeRows(run.pricings, usageType)),
    });
    return {
      transaction,
      pricings: ofType.flatMap(({ pricings }) => pricings),
      runs: ofType,
      isShared: true,
    };
  });
}

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
  const volume = sum(pricings.map(({ quantity }) => quantity.value));
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
  parts: Pick<RatedTransaction, 'usageType' | 'billedAccountId' | 'amount' | 'dimensions'>,
): RatedTransaction {
  const [first, ...others] = parts.dimensions;
  // What was priced; of several kinds of units the event's own quantity says more than any of them.
  const quantity = others.length === 0 ? first?.volume : (event.quantity ?? first?.volume);
  return {
    usageType: parts.usageType,
    billedAccountId: parts.billedAccountId,
    chargeType: plan.charge,
    amount: parts.amount,
    currency: plan.currency,
    quantity: quantity ?? event.quantity ?? ONE,
    dimensions: parts.dimensions,
  };
}

function billedAccountOf(pricing: Pricing, prepared: Prepared): string {
  return pricing.row.facts.billingAccountId ?? prepared.owner.accountId;
}
