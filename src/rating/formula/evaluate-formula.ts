import { digitsMax, roundToWhole, ZERO, type Decimal } from '../../kernel/numbers/money.js';
import {
  additionCost,
  divisionCost,
  nameCost,
  priceCost,
  productCost,
  type Spending,
} from '../operation-budget.js';
import type { Expression, Operator } from './compile-formula.js';

/** What an expression gives: a number, or a text from quotes or from an attribute that is no number. */
export type FormulaValue = Decimal | string;

/** What a formula may ask of the event; each throws `FormulaError` when there is no answer. */
export interface FormulaScope {
  /** Where operations are counted before they are done. */
  readonly spending: Spending;
  readName(name: string): FormulaValue;
  /** The value of the attribute of that name, if there is such an attribute. */
  readQuoted(text: string): FormulaValue;
  price(attribute: string, quantity: Decimal): Decimal;
}

/** A fault of a formula with the event at hand; the caller adds logic and step. */
export class FormulaError extends Error {}

export function evaluateFormula(expression: Expression, scope: FormulaScope): FormulaValue {
  switch (expression.kind) {
    case 'number':
      return expression.value;
    case 'text':
      scope.spending.spend(nameCost);
      return scope.readQuoted(expression.text);
    case 'name':
      scope.spending.spend(nameCost);
      return scope.readName(expression.name);
    case 'negate':
      scope.spending.spend(additionCost);
      return ZERO.minus(evaluateNumber(expression.operand, scope, '-'));
    case 'round':
      scope.spending.spend(additionCost);
      return roundings[expression.name](evaluateNumber(expression.operand, scope, expression.name));
    case 'price': {
      const where = `Price(${expression.attribute})`;
      const quantity = evaluateNumber(expression.quantity, scope, where);
      if (quantity.lessThan(ZERO)) throw new FormulaError(`${where} of a negative quantity`);
      // Counters add up such quantities, so these are held to the size that an event may send.
      if (quantity.e >= digitsMax) throw new FormulaError(`${where} of too large a quantity`);
      scope.spending.spend(priceCost);
      return scope.price(expression.attribute, quantity);
    }
    case 'chain': {
      let value = evaluateNumber(expression.first, scope, expression.rest[0]?.operator ?? '+');
      for (const { operator, operand } of expression.rest) {
        const right = evaluateNumber(operand, scope, operator);
        scope.spending.spend(costOf(operator, value, right));
        value = calculate(operator, value, right);
      }
      return value;
    }
  }
}

const roundings: Readonly<Record<'Ceil' | 'Floor' | 'Round', (value: Decimal) => Decimal>> = {
  Ceil: (value) => value.ceil(),
  Floor: (value) => value.floor(),
  Round: roundToWhole,
};

function evaluateNumber(expression: Expression, scope: FormulaScope, where: string): Decimal {
  const value = evaluateFormula(expression, scope);
  if (typeof value === 'string') {
    throw new FormulaError(`the text "${shorten(value)}" is no number for ${where}`);
  }
  return value;
}

/** By the digits at hand: whole numbers are multiplied seven times as fast as those of 60 digits. */
function costOf(operator: Operator, left: Decimal, right: Decimal): number {
  if (operator === '/') return divisionCost;
  return operator === '*' ? productCost(left.d.length, right.d.length) : additionCost;
}

function calculate(operator: Operator, left: Decimal, right: Decimal): Decimal {
  const value = applyOperator(operator, left, right);
  if (!value.isFinite()) throw new FormulaError('the number is too large');
  return value;
}

function applyOperator(operator: Operator, left: Decimal, right: Decimal): Decimal {
  switch (operator) {
    case '+':
      return left.plus(right);
    case '-':
      return left.minus(right);
    case '*':
      return left.times(right);
    case '/':
      if (right.isZero()) throw new FormulaError('division by zero');
      return left.div(right);
  }
}

function shorten(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}
