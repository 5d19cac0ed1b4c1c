import { CostFault, ExpressionFault } from '../kernel/expression/expression-fault.js';
import {
  compileExpression,
  expressionCostMax,
  type Spend,
} from '../kernel/expression/expression.js';
import { isObject } from '../kernel/expression/json-schema-check.js';
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
  /** Whether values are measured; they were not where a history is older than that. */
  readonly #isMeasured: boolean;
  /** Whether what functions take apart counts; it does not in executions that began before it did. */
  readonly #isPartingCounted: boolean;
  /** What the expressions of each task that is under way have cost. */
  readonly #costs = new Map<string, number>();

  constructor(state: DefinitionState, isMeasured = true, isPartingCounted = true) {
    this.#state = state;
    this.#isMeasured = isMeasured;
    this.#isPartingCounted = isPartingCounted;
  }

  /** A task, or a turn of its loop, begins: its expressions have cost nothing yet. */
  beginTask(path: string): void {
    this.#costs.set(path, 0);
  }

  expression(text: string, variables: Variables, path: string): unknown {
    const found = this.#evaluate(text, variables, path);
    // An expression that failed has cost something, too.
    if (this.#state.cost > definitionLimits.cost) {
      throw limitError(path, 'The expressions of the execution cost more than they may.');
    }
    // Nobody else has a turn before the task has all its values.
    if (this.#isMeasured && (this.#costs.get(path) ?? 0) > definitionLimits.taskCost) {
      throw limitError(path, 'The expressions of the task cost more than those of one may.');
    }
    if (!(found instanceof ExpressionFault)) return found;
    const kind = found instanceof CostFault ? 'limitReached' : undefined;
    const more = { type: expressionFaultType, title: kind ?? 'Expression' };
    throw taskError(path, 400, `\${ ${text} }: ${found.message}`.slice(0, 2_500), more, kind);
  }

  #evaluate(text: string, variables: Variables, path: string): unknown {
    try {
      const all = { ...variables, context: this.#state.context };
      const count: Spend = (cost, looked, parted) => {
        this.#state.cost += cost;
        const ofTask = cost + looked + (this.#isPartingCounted ? parted : 0);
        this.#costs.set(path, (this.#costs.get(path) ?? 0) + ofTask);
      };
      const lookedMax = this.#isMeasured ? expressionCostMax : Number.MAX_SAFE_INTEGER;
      const compiled = compileExpression(text, Object.keys(all));
      return compiled.evaluate(all, count, expressionCostMax, lookedMax);
    } catch (error) {
      if (error instanceof ExpressionFault) return error;
      throw error;
    }
  }

  /** Whether a condition holds. */
  holds(text: string, variables: Variables, path: string): boolean {
    const value = this.expression(expressionIn(text) ?? text, variables, path);
    if (typeof value === 'boolean') return value;
    const gave =
      this.#isMeasured && isLongerThan(value, 1_000) ? 'much' : JSON.stringify(value).slice(0, 100);
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
    // Of a text that is no longer a character may be six bytes.
    const most = 6 * definitionLimits.stateBytes;
    if (this.#isMeasured && isLongerThan([value, context], most)) {
      const { stateBytes } = definitionLimits;
      const detail = `What the task gives and the context have more than ${stateBytes} bytes.`;
      throw limitError(path, detail);
    }
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
    if (!this.#isMeasured || !isLongerThan(value, max)) return;
    throw limitError(path, `${what} more than ${max} bytes.`);
  }
}
