/**
 * A reason not to start that the person at the keyboard can act on. The command line prints the
 * message alone, without a stack, and exits with 1; so a message is one line that names the thing,
 * what is wrong with it and what to do.
 */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

/** The `code` of a system error such as EACCES, or an empty string. */
export function errorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** The first line of whatever was thrown, for a sentence that has to stay on one line. */
export function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split('\n')[0] ?? '';
}
