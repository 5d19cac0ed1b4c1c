import { CostFault, ExpressionFault } from '../kernel/expression/expression-fault.js';
import { compileExpression } from '../kernel/expression/expression.js';
import { isObject } from '../kernel/expression/shape.js';
import { isLongerThan } from '../kernel/text/json-length.js';
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
  /** What all expressions had cost when the last task began. */
  #costBefore: number;

  constructor(state: DefinitionState) {
    this.#state = state;
    this.#costBefore = state.cost;
  }

  /** From now on the expressions of another task are evaluated. */
  beginTask(): void {
    this.#costBefore = this.#state.cost;
  }

  expression(text: string, variables: Variables, path: string): unknown {
    const found = this.#evaluate(text, variables);
    // An expression that failed has cost something, too.
    if (this.#state.cost > definitionLimits.cost) {
      throw limitError(path, 'The expressions of the execution cost more than they may.');
    }
    // Nobody else has a turn before the task has all its values.
    if (this.#state.cost - this.#costBefore > definitionLimits.taskCost) {
      throw limitError(path, 'The expressions of the task cost more than those of one may.');
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
    const gave = isLongerThan(value, 1_000) ? 'much' : JSON.stringify(value).slice(0, 100);
    const detail = `${text} gave ${gave}, not true or false.`;
    throw taskError(path, 400, detail, { type: expressionFaultType });
  }

  /** What a call is given. A secret stands there as a mark, which only its activity opens. */
  given({ call, with: value }: Partial<CallSpec>, variables: Variables, path: string): unknown {
    const secrets = markedSecrets(this.#state.secretMark, secretNamesIn(value));
    const seen = call === 'http' ? { ...variables, secrets } : variables;
    const given = this.of(value, seen, path);
    this.checkSize(given, path, 'What the call is given has', definitionLimits.givenBytes);
    return given;
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
    const { context } = this.#state;
    this.checkSize([value, context], path, 'What the task gives and the context have');
    const text = JSON.stringify([value, context]);
    if (unstorable.test(text)) throw taskError(path, 400, unstorableDetail);
    const bytes = text.length - '[,]'.length;
    if (bytes <= definitionLimits.stateBytes) return;
    const detail = `What the task gives and the context have ${bytes} bytes, more than ${definitionLimits.stateBytes}.`;
    throw limitError(path, detail);
  }

  /** What expressions have made is measured before anybody writes it down. */
  checkSize(
    value: unknown,
    path: string,
    what: string,
    max: number = definitionLimits.stateBytes,
  ): void {
    if (!isLongerThan(value, max)) return;
    throw limitError(path, `${what} more than ${max} bytes.`);
  }
}
