import { problem } from '../kernel/problem.js';

export { JsonText, parseJson, stringifyJson } from '../kernel/json.js';

/** Escapes that PostgreSQL cannot store: NUL, and halves of a surrogate pair. */
const suspiciousEscape = /\\u(?:0000|[dD][89a-fA-F])/;

/** Throws a validation problem that names the field when a text in the body cannot be stored. */
export function refuseUnstorableText(text: string, body: unknown): void {
  if (!suspiciousEscape.test(text)) return;
  const field = findUnstorable(body, '');
  if (field !== undefined) {
    throw problem.validation(`'${field}' contains a character that cannot be stored`, { field });
  }
}

const isUnstorable = (text: string): boolean => text.includes('\0') || !text.isWellFormed();

function findUnstorable(value: unknown, path: string): string | undefined {
  if (typeof value === 'string') return isUnstorable(value) ? path : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, child] of Object.entries(value)) {
    const inner = Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    if (isUnstorable(key)) return inner.replaceAll('\0', '?').toWellFormed();
    const found = findUnstorable(child, inner);
    if (found !== undefined) return found;
  }
  return undefined;
}
