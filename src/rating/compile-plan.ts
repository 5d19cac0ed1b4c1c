import { parseDecimal, type Decimal } from '../kernel/numbers/money.js';
import { isFrequency, type Frequency } from '../kernel/time/period.js';
import {
  compileFormula,
  logicStepsMax,
  type Formula,
  type FormulaCompiled,
} from './formula/compile-formula.js';
import { findPriceMethod } from './price-methods/index.js';
import type { PriceAnswer, PricedUsage } from './price-methods/price-method.js';
import { Rejection } from './rejection.js';
import { tierCost } from './operation-budget.js';
import type {
  Aggregation,
  ChargeType,
  LogicFacts,
  PlanAttribute,
  RatingPlan,
  RowFacts,
  UsageType,
} from './types.js';

/** A plan with its formulas parsed and its decimals read: made once, used by every event. */
export interface CompiledPlan {
  readonly plan: RatingPlan;
  readonly attributes: ReadonlyMap<string, PlanAttribute>;
  readonly priceables: readonly PlanAttribute[];
  /** The only priceable attribute, which is priced even when the event does not give it. */
  readonly onlyPriceable: PlanAttribute | null;
  /** Names in the attribute values of any row, and whose values are counted: known dimensions, too. */
  readonly cardNames: ReadonlySet<string>;
  /** By attribute name, in the order of the card. */
  readonly rows: ReadonlyMap<string, readonly CompiledRow[]>;
  /** Those that apply, in their order; empty when rows are simply summed. */
  readonly logics: readonly CompiledLogic[];
}

export interface CompiledRow {
  readonly facts: RowFacts;
  readonly usageType: UsageType;
  readonly conditions: readonly Condition[];
  /** `null` when the stored rates are not of the price method: rejects events that choose the row. */
  readonly price: PriceRow | null;
  /** Operations that a price takes. */
  readonly cost: number;
  /** `null` when not metered. */
  readonly meter:
    | {
        readonly frequency: Frequency | 'none';
        readonly aggregation: Aggregation;
        /** Of UNIQUE: the dimension whose values are counted. */
        readonly uniqueDimension?: string;
      }
    | { readonly fault: string }
    | null;
}

type PriceRow = (usage: PricedUsage) => PriceAnswer;

interface Condition {
  readonly name: string;
  readonly value: string;
  /** Of a Number attribute: 1.0 is 1. */
  readonly number: Decimal | null;
}

export interface CompiledLogic {
  readonly facts: LogicFacts;
  readonly usageType: UsageType;
  readonly steps: readonly { readonly name: string; readonly formula: Formula }[];
  /** Attributes that some step asks `Price()` for. */
  readonly pricedNames: readonly string[];
}

const compiledPlans = new WeakMap<RatingPlan, CompiledPlan | Rejection>();
/** Of the facts that plans share: their copies with other attributes need no other. */
const compiledLogics = new WeakMap<LogicFacts, CompiledLogic | Rejection>();
type CompiledPrice = Pick<CompiledRow, 'price' | 'cost'>;

/**
 * By the list of rows, in its order: a map of rows has hundreds of thousands, and whenever it grows, or garbage is
 * collected, the process stands still for all of them.
 */
const compiledPrices = new WeakMap<readonly RowFacts[], readonly CompiledPrice[]>();

/** Throws a `Rejection` when a formula of the plan cannot be used. */
export function compilePlan(plan: RatingPlan): CompiledPlan {
  const pieces = compileInPieces(plan);
  while (pieces.next().done !== true);
  const compiled = compiledPlans.get(plan);
  if (!compiled || compiled instanceof Rejection) throw compiled ?? new Error('Nothing compiled.');
  return compiled;
}

/** Whether a plan is compiled; one that cannot be is, too. */
export const isCompiled = (plan: RatingPlan): boolean => compiledPlans.has(plan);

/**
 * Compiles a plan, if it is not yet, a formula or some rows at a time: large ones take longer than a
 * process may be kept from its other work, and whoever rates waits between the pieces.
 */
export function* compileInPieces(plan: RatingPlan): Generator<undefined, void, undefined> {
  if (isCompiled(plan)) return;
  let compiled: CompiledPlan | Rejection;
  try {
    compiled = yield* compile(plan);
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    compiled = error;
  }
  compiledPlans.set(plan, compiled);
}

/** Rows that are compiled at a time. */
const rowsOfPiece = 200;

function* compile(plan: RatingPlan): Generator<undefined, CompiledPlan, undefined> {
  const attributes = new Map(plan.attributes.map((attribute) => [attribute.name, attribute]));
  const priceables = plan.attributes.filter(({ kind }) => kind === 'PRICEABLE');
  const ofService = priceables.filter(({ isOfService }) => isOfService);
  const candidates = ofService.length > 0 ? ofService : priceables;
  const rows = new Map<string, CompiledRow[]>();
  const known = compiledPrices.get(plan.card.rows);
  const prices: CompiledPrice[] = [];
  for (const [index, row] of plan.card.rows.entries()) {
    const ofAttribute = rows.get(row.attributeName) ?? [];
    const price = known?.[index] ?? compilePrice(row);
    prices.push(price);
    ofAttribute.push(compileRow(row, price, attributes, plan.charge));
    rows.set(row.attributeName, ofAttribute);
    if (index % rowsOfPiece === rowsOfPiece - 1) yield;
  }
  if (!known) compiledPrices.set(plan.card.rows, prices);
  const logics: CompiledLogic[] = [];
  const applying = plan.logics.filter((logic) => isFor(logic, plan));
  for (const logic of applying.sort((a, b) => a.seqNo - b.seqNo)) {
    logics.push(yield* compileLogicOnce(logic));
  }
  return {
    plan,
    attributes,
    priceables,
    onlyPriceable: candidates.length === 1 ? (candidates[0] ?? null) : null,
    cardNames: new Set([
      ...plan.card.rows.flatMap((row) => row.attributeValues.map(({ name }) => name)),
      ...plan.attributes.flatMap(({ uniqueDimension: name }) => (name === undefined ? [] : [name])),
    ]),
    rows,
    logics,
  };
}

const compilePrice = (row: RowFacts): CompiledPrice => ({
  price: findPriceMethod(row.priceMethod)?.compile(row.rates) ?? null,
  cost: 1 + tierCost * countTiers(row.rates),
});

function compileRow(
  row: RowFacts,
  { price, cost }: CompiledPrice,
  attributes: ReadonlyMap<string, PlanAttribute>,
  charge: ChargeType,
): CompiledRow {
  return {
    facts: row,
    usageType: readUsageType(row.usageType),
    conditions: row.attributeValues.map(({ name, value }) => ({
      name,
      value,
      number: attributes.get(name)?.dataType === 'Number' ? parseDecimal(value) : null,
    })),
    price,
    cost,
    meter: compileMeter(row, attributes.get(row.attributeName), charge),
  };
}

function countTiers(rates: unknown): number {
  if (typeof rates !== 'object' || rates === null || !('rateCardTiers' in rates)) return 0;
  return Array.isArray(rates.rateCardTiers) ? rates.rateCardTiers.length : 0;
}

/** The row's own reset frequency, else the attribute's, else one counter for ever. */
function compileMeter(
  row: RowFacts,
  attribute: PlanAttribute | undefined,
  charge: ChargeType,
): CompiledRow['meter'] {
  if (!attribute?.isMeter) return null;
  const { aggregation = 'SUM', uniqueDimension } = attribute;
  const frequency = resetFrequencyOf(row.rates) ?? attribute.resetFrequency ?? 'none';
  if (frequency === 'none' || isFrequency(frequency)) {
    if (aggregation !== 'UNIQUE') return { frequency, aggregation };
    // What recurs has a quantity and no values: meters are of usage.
    if (charge !== 'Usage') return { frequency, aggregation: 'SUM' };
    if (uniqueDimension === undefined) return { fault: 'it counts the values of no dimension' };
    return { frequency, aggregation, uniqueDimension };
  }
  return { fault: `'${frequency}' is not a reset frequency that rating knows` };
}

function resetFrequencyOf(rates: unknown): string | null {
  if (typeof rates !== 'object' || rates === null || !('resetFrequency' in rates)) return null;
  return typeof rates.resetFrequency === 'string' ? rates.resetFrequency : null;
}

/** A logic that does not say what it is for is for usage. */
function isFor(logic: LogicFacts, plan: RatingPlan): boolean {
  const chargeType = logic.chargeType ?? 'Usage';
  return chargeType === 'All' || chargeType === plan.charge;
}

function* compileLogicOnce(logic: LogicFacts): Generator<undefined, CompiledLogic, undefined> {
  let compiled = compiledLogics.get(logic);
  if (!compiled) {
    try {
      compiled = yield* compileLogic(logic);
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      compiled = error;
    }
    compiledLogics.set(logic, compiled);
  }
  if (compiled instanceof Rejection) throw compiled;
  return compiled;
}

function* compileLogic(logic: LogicFacts): Generator<undefined, CompiledLogic, undefined> {
  const fail = (text: string): never => {
    throw new Rejection('FORMULA_ERROR', `Pricing logic '${logic.name}': ${text}`);
  };
  if (logic.steps.length > logicStepsMax) fail(`it has more than ${logicStepsMax} steps`);
  const steps: { name: string; formula: Formula }[] = [];
  for (const { name, formula: text } of logic.steps) {
    const compiled: FormulaCompiled = compileFormula(text);
    yield;
    if (!compiled.ok) {
      const { message, position } = compiled;
      const where = position === null ? '' : ` (character ${position})`;
      throw new Rejection(
        'FORMULA_ERROR',
        `Pricing logic '${logic.name}': step '${name}': ${message}${where}`,
      );
    }
    steps.push({ name, formula: compiled.formula });
  }
  if (!steps.some(({ name }) => name === logic.priceOutput)) {
    fail(`its output '${logic.priceOutput}' is not a step`);
  }
  const pricedNames = steps.flatMap(({ formula }) => formula.prices.map(({ name }) => name));
  return {
    facts: logic,
    usageType: readUsageType(logic.usageType),
    steps,
    pricedNames: [...new Set(pricedNames)],
  };
}

function readUsageType(text: string | null): UsageType {
  return text === 'Payout' ? 'Payout' : 'Charge';
}
