import { problem } from '../kernel/problem.js';

/**
 * A body may repeat an id that its address already says, so that what was read can be sent back;
 * it must not name another (document 1, section 2.2, "Address"). 400: it does.
 */
export function requireSameId(
  field: string,
  given: string | null | undefined,
  actual: string | null,
): void {
  if (given === undefined || given === null) return;
  if (given.toLowerCase() !== actual?.toLowerCase()) {
    throw problem.validation(`'${field}' must be left out or be the id that the address names`, {
      field,
      value: given,
    });
  }
}
