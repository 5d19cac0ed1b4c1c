import { databaseProblem } from '../../commands/rules/database-problem.js';
import { Problem, problem } from '../../kernel/problem.js';

/** What a caller is told of an error. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  // @koa/router and Koa refuse malformed percent-encoding with a URIError or status 400.
  if (error instanceof URIError || (error as { status?: number }).status === 400) {
    return problem.validation('The address is not valid.');
  }
  return databaseProblem(error) ?? new Problem('internal', 'Something went wrong on our side.');
}
