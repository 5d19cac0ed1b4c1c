import { problem } from '../../kernel/problem.js';

/**
 * A body may repeat an id of the path, so that an answer can be sent back as a request; another id
 * is refused (spec/resources.md R32). `actual` is null where the body may not have an id at all.
 * 400: the ids differ.
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
