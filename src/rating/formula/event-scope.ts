import { ONE, parseDecimal, type Decimal } from '../../kernel/numbers/money.js';
import { FormulaError, type FormulaScope, type FormulaValue } from './evaluate-formula.js';
import type { Prepared } from '../prepare-event.js';
import type { Spending } from '../operation-budget.js';

/** The names that the formulas of one pricing logic can read while it rates one event. */
export class EventScope implements FormulaScope {
  readonly spending: Spending;
  readonly #prepared: Prepared;
  readonly #price: (attribute: string, quantity: Decimal) => Decimal;
  readonly #steps = new Map<string, FormulaValue>();

  constructor(
    prepared: Prepared,
    spending: Spending,
    price: (attribute: string, quantity: Decimal) => Decimal,
  ) {
    this.spending = spending;
    this.#prepared = prepared;
    this.#price = price;
  }

  addStep(name: string, value: FormulaValue): void {
    this.#steps.set(name, value);
  }

  /** An earlier step, else an attribute. */
  readName(name: string): FormulaValue {
    const step = this.#steps.get(name);
    if (step !== undefined) return step;
    if (this.#isAttribute(name)) return this.#readAttribute(name);
    throw new FormulaError(`'${name}' is neither an earlier step nor an attribute`);
  }

  readQuoted(text: string): FormulaValue {
    return this.#isAttribute(text) ? this.#readAttribute(text) : text;
  }

  price(attribute: string, quantity: Decimal): Decimal {
    return this.#price(attribute, quantity);
  }

  #isAttribute(name: string): boolean {
    const { attributes, cardNames } = this.#prepared.compiled;
    return attributes.has(name) || cardNames.has(name);
  }

  /** The event's value; of a priceable attribute that the event does not give, its quantity. */
  #readAttribute(name: string): FormulaValue {
    const { event, compiled } = this.#prepared;
    const attribute = compiled.attributes.get(name);
    const text = event.dimensions.get(name);
    if (text === undefined) {
      if (attribute?.kind === 'PRICEABLE') return event.quantity ?? ONE;
      throw new FormulaError(`the event does not give '${name}'`);
    }
    const isText = attribute !== undefined && attribute.kind !== 'PRICEABLE';
    if (isText && attribute.dataType !== 'Number') return text;
    return parseDecimal(text) ?? text;
  }
}
