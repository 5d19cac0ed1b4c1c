import type { Context } from 'koa';
import { databaseProblem } from '../../commands/rules/database-problem.js';
import { defined } from '../../kernel/defined.js';
import { problem, Problem } from '../../kernel/problem.js';
import { shownPath } from '../../platform/log.js';
import type { Platform } from '../../process/platform.js';

/** Error codes of RFC 6749 (4.1.2.1, 5.2), RFC 7591 (3.2.2) and RFC 8707 (2). */
export type OauthErrorCode =
  | 'access_denied'
  | 'invalid_client'
  | 'invalid_client_metadata'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_target'
  | 'temporarily_unavailable'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type';

/** A fault of the request with the code by which a client knows it. */
export const oauthFault = (code: OauthErrorCode, message: string, field?: string): Problem =>
  problem.validation(message, { code, ...defined({ field }) });

/** RFC 6749, section 5.2: a client that cannot be identified is 401. */
export const unknownClient = (): Problem =>
  problem.unauthorized('The client is not known; register it again.', {
    code: 'invalid_client',
    field: 'client_id',
  });

/** The code of a fault; `otherwise` for faults that validation found, which has none. */
export const codeOf = ({ details }: Problem, otherwise: OauthErrorCode): string =>
  typeof details['code'] === 'string' ? details['code'] : otherwise;

/** Whether the caller is at fault in a way that OAuth has codes for. */
export const isFault = (error: unknown): error is Problem =>
  error instanceof Problem && (error.kind === 'validation' || error.kind === 'tooLarge');

/** RFC 6749, section 5.2: clients act on the code, so that it is not wrapped in a body of ours. */
export function answerFault(ctx: Context, error: unknown, platform: Platform): void {
  const known = error instanceof Problem ? error : databaseProblem(error);
  if (!known) platform.log.error({ err: error, path: shownPath(ctx.path) }, 'request failed');
  const failure = known ?? new Problem('internal', 'Something went wrong on our side.');
  ctx.status = failure.status;
  if (failure.kind === 'unavailable') ctx.set('Retry-After', '5');
  const { retryAfterSeconds } = failure.details;
  if (typeof retryAfterSeconds === 'number') ctx.set('Retry-After', String(retryAfterSeconds));
  const isOfServer = failure.status >= 500;
  const otherwise = failure.kind === 'rateLimited' ? 'temporarily_unavailable' : 'invalid_request';
  ctx.body = {
    error: isOfServer ? 'server_error' : codeOf(failure, otherwise),
    error_description: failure.message,
  };
}
