import { compileFormula, logicStepsMax, type Formula } from './compile-formula.js';
import { divisionCost, eventOperationsMax, productCostMax, stepCost } from '../operation-budget.js';
import type { AttributeKind } from '../types.js';

/** What is wrong with pricing logic that somebody wants to save, for a 400. */
export interface LogicProblem {
  /** `null` when the problem is of the logic as a whole. */
  readonly step: string | null;
  /** The character of the formula, counted from 1. */
  readonly position: number | null;
  readonly message: string;
}

export interface LogicToValidate {
  readonly attributes: readonly { readonly name: string; readonly kind: AttributeKind }[];
  /** The `attributeName`s that the rows of any of the service's cards use. */
  readonly cardAttributeNames: readonly string[];
  readonly logic: {
    readonly priceOutput: string;
    readonly steps: readonly { readonly name: string; readonly formula: string }[];
  };
}

/**
 * Finds what rating would reject in every event: bad formulas, unknown names, a lost output; and
 * formulas that could take more operations than an event may (docs/decisions/0185-what-a-formula-may-cost.md).
 * Yields after each step, so that a caller can let others have their turn.
 */
export function* findLogicProblems({
  attributes,
  cardAttributeNames,
  logic,
}: LogicToValidate): Generator<undefined, LogicProblem[], undefined> {
  const { steps, priceOutput } = logic;
  if (steps.length > logicStepsMax) {
    return [{ step: null, position: null, message: `At most ${logicStepsMax} steps are allowed` }];
  }
  const priceable = new Set(
    attributes.filter(({ kind }) => kind === 'PRICEABLE').map(({ name }) => name),
  );
  const known = new Set([...attributes.map(({ name }) => name), ...cardAttributeNames]);
  const earlier = new Set<string>();
  const problems: LogicProblem[] = [];
  let operations = 0;
  for (const { name, formula } of steps) {
    if (earlier.has(name)) {
      problems.push({ step: name, position: null, message: `There are two steps named '${name}'` });
    }
    const compiled = compileFormula(formula);
    if (compiled.ok) {
      problems.push(...findUnknownNames(name, compiled.formula, { known, priceable, earlier }));
      const before = operations;
      operations += stepCost + compiled.formula.operationsMax;
      if (operations > eventOperationsMax && before <= eventOperationsMax) {
        const message =
          `With this step the formulas take up to ${operations} operations for each event; at most ` +
          `${eventOperationsMax} are allowed. An addition is 1, a product up to ${productCostMax}, a ` +
          `division ${divisionCost}`;
        problems.push({ step: name, position: null, message });
      }
    } else {
      problems.push({ step: name, position: compiled.position, message: compiled.message });
    }
    earlier.add(name);
    yield;
  }
  if (!earlier.has(priceOutput)) {
    const message = `priceOutput '${priceOutput}' is not the name of a step`;
    problems.push({ step: null, position: null, message });
  }
  return problems;
}

/** The same without a pause. */
export function validateLogic(input: LogicToValidate): LogicProblem[] {
  const pieces = findLogicProblems(input);
  for (;;) {
    const { done, value } = pieces.next();
    if (done === true) return value;
  }
}

interface KnownNames {
  readonly known: ReadonlySet<string>;
  readonly priceable: ReadonlySet<string>;
  readonly earlier: ReadonlySet<string>;
}

function findUnknownNames(step: string, formula: Formula, names: KnownNames): LogicProblem[] {
  const unknown = formula.names
    .filter(({ name }) => !names.known.has(name) && !names.earlier.has(name))
    .map(({ name, position }) => ({
      step,
      position,
      message: `'${name}' is neither an earlier step nor an attribute`,
    }));
  const notPriceable = formula.prices
    .filter(({ name }) => !names.priceable.has(name))
    .map(({ name, position }) => ({
      step,
      position,
      message: `'${name}' is not a priceable attribute`,
    }));
  return [...unknown, ...notPriceable];
}
