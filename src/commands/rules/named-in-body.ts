import { Problem, problem } from '../../kernel/problem.js';

/**
 * Finds a record that the body, not the path, references: when it is missing, the error is 400 and
 * names the field (spec/resources.md R22).
 */
export async function namedInBody<T>(
  field: string,
  id: string,
  find: () => Promise<T>,
): Promise<T> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof Problem) || error.kind !== 'notFound') throw error;
    throw problem.validation(`'${field}': ${error.message}`, { field, value: id });
  }
}
