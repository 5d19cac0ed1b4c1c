import { decimalText, ZERO, type Decimal } from '../../kernel/numbers/money.js';
import type { CompiledLogic, CompiledRow } from '../compile-plan.js';
import { FormulaError, evaluateFormula, type FormulaValue } from '../formula/evaluate-formula.js';
import { EventScope } from '../formula/event-scope.js';
import type { Prepared, Quantity, SelectedRow } from '../prepare-event.js';
import type { PriceResult } from '../price-methods/price-method.js';
import { Rejection } from '../rejection.js';
import { priceDifference } from './aggregate.js';
import { furthest, Meter } from './meter.js';
import { Spending, stepCost } from '../operation-budget.js';
import type { Aggregation, CounterChange, CounterReader } from '../types.js';

/** One row priced once: what a rated dimension and its explanation are made of. */
export interface Pricing {
  readonly row: CompiledRow;
  readonly quantity: Quantity;
  /** What of it is priced: how far the counter has moved, where that is no sum. */
  readonly volume: Decimal;
  readonly counter: CounterChange | null;
  readonly price: PriceResult;
  /** The step of pricing logic that asked for it. */
  readonly step: string | null;
}

/** One pricing logic that ran, with the value of every step in order. */
export interface LogicRun {
  readonly logic: CompiledLogic;
  readonly values: readonly FormulaValue[];
  readonly output: Decimal;
  readonly pricings: readonly Pricing[];
}

/** The price with everything that led to it. Rating and explanation are two readings of this. */
export type Computation = (
  | { readonly kind: 'rows'; readonly pricings: readonly Pricing[] }
  | { readonly kind: 'logic'; readonly runs: readonly LogicRun[] }
) & { readonly counterChanges: readonly CounterChange[] };

/** The stage `price`; throws a `Rejection`. */
export function price(prepared: Prepared, counters: CounterReader): Computation {
  const { cost } = prepared;
  const spending = new Spending(cost.operationsMax, cost.preparing);
  try {
    return priceWithin(spending, prepared, counters);
  } finally {
    cost.operations = spending.spent;
  }
}

function priceWithin(spending: Spending, prepared: Prepared, counters: CounterReader): Computation {
  const { logics } = prepared.compiled;
  if (logics.length === 0) {
    const meter = new Meter(counters, spending);
    const pricings = [...prepared.selected.values()].map((selected) =>
      priceRow(selected, selected.quantity, meter, null),
    );
    return { kind: 'rows', pricings, counterChanges: meter.changes() };
  }
  // Each logic is a price of the same usage, so each begins at the counters before the event; the
  // counters then stand where the furthest of them came (docs/decisions/0012).
  const meters = logics.map(() => new Meter(counters, spending));
  const runs = logics.map((logic, index) => {
    return runLogic(logic, prepared, meters[index] ?? new Meter(counters, spending));
  });
  return { kind: 'logic', runs, counterChanges: furthest(meters) };
}

function priceRow(
  { row, counter: selectedCounter, attributeName }: SelectedRow,
  quantity: Quantity,
  meter: Meter,
  step: string | null,
): Pricing {
  meter.spending.spend(row.cost);
  const aggregation = aggregationOf(row);
  const counter = selectedCounter && meter.move(selectedCounter, quantity.value, aggregation);
  const isSum = counter === null || aggregation === 'SUM';
  const answer = isSum
    ? row.price?.({ quantity: quantity.value, counterBefore: counter?.before ?? ZERO })
    : row.price && priceDifference(row.price, counter.before, counter.after);
  if (!answer) throw new Error(`Row ${row.facts.id} was selected although it cannot price`);
  if (!answer.ok) {
    throw new Rejection(
      'VOLUME_ABOVE_TIERS',
      `The volume ${decimalText(answer.volume)} of '${attributeName}' is above the last tier of row ` +
        `'${row.facts.label}', which ends at ${decimalText(answer.volumeMax)}`,
    );
  }
  const volume = isSum ? quantity.value : counter.after.minus(counter.before);
  return { row, quantity, volume, counter, price: answer, step };
}

/** How the counter of a row takes up usage. */
export const aggregationOf = ({ meter }: CompiledRow): Aggregation =>
  meter !== null && 'aggregation' in meter ? meter.aggregation : 'SUM';

function runLogic(logic: CompiledLogic, prepared: Prepared, meter: Meter): LogicRun {
  const pricings: Pricing[] = [];
  let step = '';
  const scope = new EventScope(prepared, meter.spending, (attribute, value) => {
    const selected = prepared.selected.get(attribute);
    if (!selected) throw new FormulaError(`'${attribute}' has no row to price`);
    const pricing = priceRow(selected, { value, source: 'formula' }, meter, step);
    pricings.push(pricing);
    return pricing.price.amount;
  });
  const values: FormulaValue[] = [];
  let output: FormulaValue = '';
  for (const { name, formula } of logic.steps) {
    step = name;
    meter.spending.spend(stepCost);
    const value = evaluateStep(logic, name, () => evaluateFormula(formula.expression, scope));
    scope.addStep(name, value);
    values.push(value);
    if (name === logic.facts.priceOutput) output = value;
  }
  if (typeof output === 'string') {
    const { name, priceOutput } = logic.facts;
    throw new Rejection(
      'FORMULA_ERROR',
      `Pricing logic '${name}': its output '${priceOutput}' is a text, not a number`,
    );
  }
  return { logic, values, output, pricings };
}

function evaluateStep(logic: CompiledLogic, step: string, run: () => FormulaValue): FormulaValue {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof FormulaError)) throw error;
    const where = `Pricing logic '${logic.facts.name}', step '${step}'`;
    throw new Rejection('FORMULA_ERROR', `${where}: ${error.message}`);
  }
}
