import { pointerPart } from '../../kernel/expression/json-schema-check.js';
import { inPortions } from '../../kernel/portions.js';
import { problem, type Problem } from '../../kernel/problem.js';
import { repeatedNames } from '../../kernel/text/repeated-names.js';

export { JsonText, parseJson, stringifyJson } from '../../kernel/text/json.js';
export { parseJsonInPortions, portionedFrom } from '../../kernel/text/json-portions.js';
export { stringifyJsonInPortions } from '../../kernel/text/json-write-portions.js';

/** Escapes that PostgreSQL cannot store: NUL, and halves of a surrogate pair. */
const suspiciousEscape = /\\u(?:0000|[dD][89a-fA-F])/;

/** Throws a validation problem that names the field when a text in the body cannot be stored. */
export function refuseUnstorableText(text: string, body: unknown): void {
  if (!suspiciousEscape.test(text)) return;
  const path = findUnstorable(body);
  if (path === undefined) return;
  const field = nameOf(body, path).replaceAll('\0', '?').toWellFormed();
  throw problem.validation(`'${field}' contains a character that cannot be stored`, { field });
}

const repeatedMax = 100;
/** Characters of a name, and of a pointer, that are shown: a hundred faults may repeat one of a megabyte. */
const shownMax = { name: 100, pointer: 1_000 };

/**
 * A validation problem that names each member that is there twice, at its place in a part of the body
 * ('': all of it), which may be within a message of its own; undefined: there is none.
 */
export async function repeatedNamesProblem(
  text: string,
  part: string,
  around: readonly (string | number)[] = [],
): Promise<Problem | undefined> {
  const repeated = await inPortions(repeatedNames(text, repeatedMax));
  const steps = part === '' ? around : [...around, part];
  const faults = repeated.map(({ path, name }) => ({
    pointer: path
      .slice(steps.every((step, index) => path[index] === step) ? steps.length : 0)
      .map((each) => pointerPart(String(each).slice(0, shownMax.pointer)))
      .join('')
      .slice(0, shownMax.pointer),
    message: `'${name.slice(0, shownMax.name)}' is there twice: which of the two is meant?`,
  }));
  const [first] = faults;
  if (first === undefined) return undefined;
  const place = part === '' ? first.pointer.slice(1) : part + first.pointer;
  const field = part === '' ? place : part;
  return problem.validation(`'${place}': ${first.message}`, { field, faults });
}

const isUnstorable = (text: string): boolean => text.includes('\0') || !text.isWellFormed();

/** The steps to a text that cannot be stored; nothing is written down of those that can. */
function findUnstorable(value: unknown): string[] | undefined {
  if (typeof value === 'string') return isUnstorable(value) ? [] : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const found = findUnstorable(value[index]);
      if (found) return [String(index), ...found];
    }
    return undefined;
  }
  for (const [key, child] of Object.entries(value)) {
    const found = isUnstorable(key) ? [] : findUnstorable(child);
    if (found) return [key, ...found];
  }
  return undefined;
}

/** `rows[0].name` of the steps to it. */
function nameOf(body: unknown, path: readonly string[]): string {
  let name = '';
  let value = body;
  for (const step of path) {
    if (Array.isArray(value)) name += `[${step}]`;
    else name += name === '' ? step : `.${step}`;
    value = (value as Readonly<Record<string, unknown>> | null)?.[step];
  }
  return name;
}
