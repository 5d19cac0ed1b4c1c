import { digitsMax, parseDecimal, type Decimal } from '../../kernel/numbers/money.js';
import {
  additionCost,
  divisionCost,
  nameCost,
  priceCost,
  productCostMax,
} from '../operation-budget.js';
import { parse, SyntaxError, type SyntaxNode } from './formula-parser.js';

export const formulaLengthMax = 2_000;
export const formulaDepthMax = 50;
export const logicStepsMax = 200;

export type Operator = '+' | '-' | '*' | '/';

export type Expression =
  | { readonly kind: 'number'; readonly value: Decimal }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'negate'; readonly operand: Expression }
  | {
      readonly kind: 'round';
      readonly name: 'Ceil' | 'Floor' | 'Round';
      readonly operand: Expression;
    }
  | { readonly kind: 'price'; readonly attribute: string; readonly quantity: Expression }
  | {
      readonly kind: 'chain';
      readonly first: Expression;
      readonly rest: readonly { readonly operator: Operator; readonly operand: Expression }[];
    };

/** A name that a formula uses, and where: positions count characters from 1. */
export interface NameUse {
  readonly name: string;
  readonly position: number;
}

export interface Formula {
  readonly text: string;
  readonly expression: Expression;
  /** Bare names: earlier steps or attributes. */
  readonly names: readonly NameUse[];
  /** The attributes that `Price()` is asked for, in the order of evaluation. */
  readonly prices: readonly NameUse[];
  /** The most operations that it can take, without the tiers of the rows that it prices. */
  readonly operationsMax: number;
}

export interface FormulaFault {
  readonly ok: false;
  readonly message: string;
  /** Counted from 1; null when the fault is the whole text. */
  readonly position: number | null;
}

export type FormulaCompiled = { readonly ok: true; readonly formula: Formula } | FormulaFault;

/** Parses a formula within its limits. Nothing is looked up: names are checked by `validateLogic`. */
export function compileFormula(text: string): FormulaCompiled {
  if (text.length > formulaLengthMax) {
    return fault(`A formula has at most ${formulaLengthMax} characters`, null);
  }
  const tooDeepAt = findTooDeep(text);
  if (tooDeepAt !== null) {
    return fault(`Parentheses nest at most ${formulaDepthMax} deep`, tooDeepAt);
  }
  const uses = { names: [] as NameUse[], prices: [] as NameUse[] };
  try {
    const expression = convert(parse(text), uses);
    const operationsMax = countOperations(expression);
    return { ok: true, formula: { text, expression, ...uses, operationsMax } };
  } catch (error) {
    if (error instanceof SyntaxError) return fault(error.message, error.location.start.offset + 1);
    if (error instanceof NumberTooLong) return fault(error.message, error.position);
    throw error;
  }
}

class NumberTooLong extends Error {
  readonly position: number;

  constructor(position: number) {
    super(`A number has at most ${digitsMax} digits`);
    this.position = position;
  }
}

/** Only parentheses nest, so counting them before parsing keeps the parser's stack small. */
function findTooDeep(text: string): number | null {
  let depth = 0;
  let quote: string | null = null;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (quote !== null) {
      if (character === quote) quote = null;
    } else if (character === '"' || character === "'") {
      quote = character;
    } else if (character === '(') {
      depth += 1;
      if (depth > formulaDepthMax) return index + 1;
    } else if (character === ')') {
      depth -= 1;
    }
  }
  return null;
}

function convert(node: SyntaxNode, uses: { names: NameUse[]; prices: NameUse[] }): Expression {
  switch (node.kind) {
    case 'number': {
      const value = parseDecimal(node.text);
      if (value === null) throw new NumberTooLong(node.offset + 1);
      return { kind: 'number', value };
    }
    case 'text':
      return node;
    case 'name':
      uses.names.push({ name: node.name, position: node.offset + 1 });
      return { kind: 'name', name: node.name };
    case 'negate':
      return { kind: 'negate', operand: convert(node.operand, uses) };
    case 'round':
      return { kind: 'round', name: node.name, operand: convert(node.operand, uses) };
    case 'price': {
      const quantity = convert(node.quantity, uses);
      uses.prices.push({ name: node.attribute, position: node.offset + 1 });
      return { kind: 'price', attribute: node.attribute, quantity };
    }
    case 'chain': {
      const first = convert(node.first, uses);
      const rest = node.rest.map(({ operator, operand }) => ({
        operator,
        operand: convert(operand, uses),
      }));
      return { kind: 'chain', first, rest };
    }
  }
}

const operatorCosts: Readonly<Record<Operator, number>> = {
  '+': additionCost,
  '-': additionCost,
  '*': productCostMax,
  '/': divisionCost,
};

function countOperations(expression: Expression): number {
  switch (expression.kind) {
    case 'number':
      return 0;
    case 'text':
    case 'name':
      return nameCost;
    case 'negate':
    case 'round':
      return additionCost + countOperations(expression.operand);
    case 'price':
      return priceCost + countOperations(expression.quantity);
    case 'chain':
      return expression.rest.reduce(
        (sum, { operator, operand }) => sum + operatorCosts[operator] + countOperations(operand),
        countOperations(expression.first),
      );
  }
}

function fault(message: string, position: number | null): FormulaFault {
  return { ok: false, message, position };
}
