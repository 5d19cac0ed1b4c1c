import { parseDecimal, type Decimal } from '../kernel/money.js';
import { isFrequency, type Frequency } from '../kernel/period.js';
import { compileFormula, logicStepsMax, type Formula } from './formula/compile-formula.js';
import { findPriceMethod } from './price-methods/index.js';
import type { PriceAnswer, PricedUsage } from './price-methods/price-method.js';
import { Rejection } from './rejection.js';
import type { LogicFacts, PlanAttribute, RatingPlan, RowFacts, UsageType } from './types.js';

/** A plan with its formulas parsed and its decimals read: made once, used by every event. */
export interface CompiledPlan {
  readonly plan: RatingPlan;
  readonly attributes: ReadonlyMap<string, PlanAttribute>;
  readonly priceables: readonly PlanAttribute[];
  /** The only priceable attribute, which is priced even when the event does not give it. */
  readonly onlyPriceable: PlanAttribute | null;
  /** Names in the attribute values of any row: known dimensions, whether attributes or not. */
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
  readonly price: ((usage: PricedUsage) => PriceAnswer) | null;
  /** `null` when not metered. */
  readonly meter: { readonly frequency: Frequency | 'none' } | { readonly fault: string } | null;
}

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

/** Throws a `Rejection` when a formula of the plan cannot be used. */
export function compilePlan(plan: RatingPlan): CompiledPlan {
  let compiled = compiledPlans.get(plan);
  if (!compiled) {
    try {
      compiled = compile(plan);
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      compiled = error;
    }
    compiledPlans.set(plan, compiled);
  }
  if (compiled instanceof Rejection) throw compiled;
  return compiled;
}

function compile(plan: RatingPlan): CompiledPlan {
  const attributes = new Map(plan.attributes.map((attribute) => [attribute.name, attribute]));
  const priceables = plan.attributes.filter(({ kind }) => kind === 'PRICEABLE');
  const ofService = priceables.filter(({ isOfService }) => isOfService);
  const candidates = ofService.length > 0 ? ofService : priceables;
  const rows = new Map<string, CompiledRow[]>();
  for (const row of plan.card.rows) {
    const ofAttribute = rows.get(row.attributeName) ?? [];
    ofAttribute.push(compileRow(row, attributes));
    rows.set(row.attributeName, ofAttribute);
  }
  return {
    plan,
    attributes,
    priceables,
    onlyPriceable: candidates.length === 1 ? (candidates[0] ?? null) : null,
    cardNames: new Set(
      plan.card.rows.flatMap((row) => row.attributeValues.map(({ name }) => name)),
    ),
    rows,
    logics: plan.logics
      .filter((logic) => isFor(logic, plan))
      .sort((a, b) => a.seqNo - b.seqNo)
      .map(compileLogic),
  };
}

function compileRow(row: RowFacts, attributes: ReadonlyMap<string, PlanAttribute>): CompiledRow {
  return {
    facts: row,
    usageType: readUsageType(row.usageType),
    conditions: row.attributeValues.map(({ name, value }) => ({
      name,
      value,
      number: attributes.get(name)?.dataType === 'Number' ? parseDecimal(value) : null,
    })),
    price: findPriceMethod(row.priceMethod)?.compile(row.rates) ?? null,
    meter: compileMeter(row, attributes.get(row.attributeName)),
  };
}

/** The row's own reset frequency, else the attribute's, else one counter for ever. */
function compileMeter(row: RowFacts, attribute: PlanAttribute | undefined): CompiledRow['meter'] {
  if (!attribute?.isMeter) return null;
  const frequency = resetFrequencyOf(row.rates) ?? attribute.resetFrequency ?? 'none';
  if (frequency === 'none' || isFrequency(frequency)) return { frequency };
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

function compileLogic(logic: LogicFacts): CompiledLogic {
  const fail = (text: string): never => {
    throw new Rejection('FORMULA_ERROR', `Pricing logic '${logic.name}': ${text}`);
  };
  if (logic.steps.length > logicStepsMax) fail(`it has more than ${logicStepsMax} steps`);
  const steps = logic.steps.map(({ name, formula: text }) => {
    const compiled = compileFormula(text);
    if (compiled.ok) return { name, formula: compiled.formula };
    const { message, position } = compiled;
    return fail(`step '${name}': ${message}${position === null ? '' : ` (character ${position})`}`);
  });
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
