import { compileExpression, ExpressionFault } from '../kernel/expression/expression.js';
import { isObject } from '../kernel/expression/shape.js';
import { definitionLimits, expressionIn } from '../messages/definitions/definition.js';
import { expressionFaultType } from '../messages/definitions/task.js';
import { taskError } from './task-error.js';
import type { DefinitionState } from './state.js';

/** What expressions see. */
export type Variables = Readonly<Record<string, unknown>>;

/** Evaluates the expressions of a definition, and counts what they cost. */
export class Values {
  readonly #state: DefinitionState;

  constructor(state: DefinitionState) {
    this.#state = state;
  }

  expression(text: string, variables: Variables, path: string): unknown {
    const found = this.#evaluate(text, variables);
    // An expression that failed has cost something, too.
    if (this.#state.cost > definitionLimits.cost) {
      throw taskError(path, 500, 'The expressions of the execution cost more than they may.');
    }
    if (!(found instanceof ExpressionFault)) return found;
    throw taskError(path, 400, `\${ ${text} }: ${found.message}`.slice(0, 2_500), {
      type: expressionFaultType,
      title: 'Expression',
    });
  }

  #evaluate(text: string, variables: Variables): unknown {
    try {
      const all = { ...variables, context: this.#state.context };
      return compileExpression(text, Object.keys(all)).evaluate(all, (cost) => {
        this.#state.cost += cost;
      });
    } catch (error) {
      if (error instanceof ExpressionFault) return error;
      throw error;
    }
  }

  /** Whether a condition holds. */
  holds(text: string, variables: Variables, path: string): boolean {
    const value = this.expression(expressionIn(text) ?? text, variables, path);
    if (typeof value === 'boolean') return value;
    throw taskError(
      path,
      400,
      `${text} gave ${JSON.stringify(value).slice(0, 100)}, not true or false.`,
      {
        type: expressionFaultType,
      },
    );
  }

  /** A value of the definition with its expressions evaluated. */
  of(value: unknown, variables: Variables, path: string): unknown {
    if (typeof value === 'string') {
      const expression = expressionIn(value);
      return expression === undefined ? value : this.expression(expression, variables, path);
    }
    if (Array.isArray(value)) return value.map((one) => this.of(one, variables, path));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, this.of(one, variables, path)]),
    );
  }

  /** What a task gives must be small enough to be carried on. */
  checkSize(value: unknown, path: string): void {
    const bytes =
      JSON.stringify(value ?? null).length + JSON.stringify(this.#state.context ?? null).length;
    if (bytes <= definitionLimits.stateBytes) return;
    const detail = `What the task gives and the context have ${bytes} bytes, more than ${definitionLimits.stateBytes}.`;
    throw taskError(path, 500, detail);
  }
}
