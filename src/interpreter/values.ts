import { CostFault, ExpressionFault } from '../kernel/expression/expression-fault.js';
import { compileExpression } from '../kernel/expression/expression.js';
import { isObject } from '../kernel/expression/shape.js';
import {
  definitionLimits,
  expressionIn,
  type CallSpec,
} from '../messages/definitions/definition.js';
import { markedSecrets } from '../messages/definitions/http-call.js';
import { expressionFaultType } from '../messages/definitions/task.js';
import { limitError, taskError } from './task-error.js';
import type { DefinitionState } from './state.js';

/** What expressions see. */
export type Variables = Readonly<Record<string, unknown>>;

/** The names of secrets that the expressions of a value may read. */
function secretNamesIn(value: unknown): string[] {
  if (typeof value === 'string') {
    const names = value.includes('secrets') ? value.match(/[A-Za-z_][A-Za-z0-9_]*/g) : null;
    return [...(names ?? [])];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(secretNamesIn);
}

/** In JSON: U+0000 and halves of surrogate pairs, which PostgreSQL stores in no text. */
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;
const unstorableDetail =
  'A text has a character that cannot be stored: U+0000, or half of a surrogate pair.';

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
      throw limitError(path, 'The expressions of the execution cost more than they may.');
    }
    if (!(found instanceof ExpressionFault)) return found;
    const kind = found instanceof CostFault ? 'limitReached' : undefined;
    const more = { type: expressionFaultType, title: kind ?? 'Expression' };
    throw taskError(path, 400, `\${ ${text} }: ${found.message}`.slice(0, 2_500), more, kind);
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

  /** What a call is given. A secret stands there as a mark, which only its activity opens. */
  given({ call, with: value }: Partial<CallSpec>, variables: Variables, path: string): unknown {
    if (call !== 'http') return this.of(value, variables, path);
    const secrets = markedSecrets(this.#state.secretMark, secretNamesIn(value));
    return this.of(value, { ...variables, secrets }, path);
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

  /** What a task gives must be small enough to be carried on, and of characters that can be stored. */
  checkResult(value: unknown, path: string): void {
    const text = JSON.stringify([value, this.#state.context]);
    if (unstorable.test(text)) throw taskError(path, 400, unstorableDetail);
    const bytes = text.length - '[,]'.length;
    if (bytes <= definitionLimits.stateBytes) return;
    const detail = `What the task gives and the context have ${bytes} bytes, more than ${definitionLimits.stateBytes}.`;
    throw limitError(path, detail);
  }
}
