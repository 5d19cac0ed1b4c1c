import { defined } from '../../kernel/defined.js';
import { problem, Problem } from '../../kernel/problem.js';

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
