const codeOf = (error: unknown): string => (error as { code?: unknown }).code?.toString() ?? '';

/**
 * Whether another transaction took a key between our look and our write: done again, it will be seen.
 */
export function isRace(error: unknown): boolean {
  return codeOf(error) === '23505';
}

/**
 * Whether PostgreSQL refused a value (data exceptions, and constraints other than keys): it would do
 * so again, however often the same is written.
 */
export function isUnstorable(error: unknown): boolean {
  return /^(?:22...|23(?!505)...)$/.test(codeOf(error));
}
