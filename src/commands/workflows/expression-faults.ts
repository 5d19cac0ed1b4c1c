import { ExpressionFault } from '../../kernel/expression/expression-fault.js';
import { compileExpression, type Expression } from '../../kernel/expression/expression.js';
import type { Fault } from '../../kernel/expression/json-schema-check.js';

/** What is known at the place of an expression. */
interface Place {
  readonly known: readonly string[];
  /** Names of the secrets that there are. */
  readonly secrets: ReadonlySet<string>;
  /** What it must give; left out: anything. */
  readonly wanted?: 'bool' | 'list' | undefined;
}

/** What helps whoever has named a variable that is not there. */
function hintOf(message: string, known: readonly string[]): string {
  if (!/^Unknown variable/.test(message)) return '';
  return /\bsecrets$/.test(message)
    ? " Secrets are known in 'with' of a call of http alone, which sends them."
    : ` Known are: ${known.join(', ')}.`;
}

const lookedAt =
  'A secret is sent as it is, or joined with other texts ("Bearer " + secrets.NAME): no function and no comparison sees what it says';

const atCharacter = (position: number): string =>
  ` (at character ${position + 1} of the expression)`;

/** What is wrong with how an expression uses secrets: it has marks in their place. */
function secretFaults(compiled: Expression, secrets: ReadonlySet<string>): string[] {
  if (!compiled.variables.has('secrets')) return [];
  const named = compiled.fieldsOf('secrets').flatMap((name) => {
    if (name === '*') return ['A secret is read by its name: secrets.NAME.'];
    if (secrets.has(name)) return [];
    return [`There is no secret '${name}': PUT /v1/secrets/${name} first.`];
  });
  const positions = compiled.lookedAt('secrets');
  return [...named, ...positions.map((position) => lookedAt + atCharacter(position))];
}

/** What is wrong with an expression. */
export function expressionFaults(
  expression: string,
  pointer: string,
  { known, secrets, wanted }: Place,
): Fault[] {
  try {
    const compiled = compileExpression(expression, known);
    const { type } = compiled;
    const messages = secretFaults(compiled, secrets);
    if (wanted !== undefined && type !== 'dyn' && !type.startsWith(wanted)) {
      const text = wanted === 'bool' ? 'true or false' : 'a list';
      messages.unshift(`must give ${text}, and gives ${type}`);
    }
    return messages.map((message) => ({ pointer, message }));
  } catch (error) {
    if (!(error instanceof ExpressionFault)) throw error;
    const { position, message } = error;
    const where = position === null ? '' : atCharacter(position);
    return [{ pointer, message: `${message}${where}${hintOf(message, known)}` }];
  }
}

/** Whether an expression reads nothing: what it gives is written in it. What is none has faults of its own. */
export function isWrittenOut(expression: string, known: readonly string[]): boolean {
  try {
    return compileExpression(expression, known).variables.size === 0;
  } catch (error) {
    if (!(error instanceof ExpressionFault)) throw error;
    return false;
  }
}
