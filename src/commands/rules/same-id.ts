import { problem } from '../../kernel/problem.js';

/**
 * A body may repeat an id that the request already says elsewhere, so that what was read can be
 * sent back; it must not name another (spec/resources.md R32). `actual` is null where nothing that
 * a body could name is right. 400: it does.
 */
export function requireSameId(
  field: string,
  given: string | null | undefined,
  actual: string | null,
): void {
  if (given === undefined || given === null) return;
  if (given !== actual) {
    const expected = actual === null ? '' : ` or be '${actual}'`;
    throw problem.validation(`'${field}' must be left out${expected}`, { field, value: given });
  }
}
