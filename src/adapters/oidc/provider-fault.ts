import {
  AuthorizationResponseError,
  INVALID_RESPONSE,
  JWT_CLAIM_COMPARISON,
  JWT_TIMESTAMP_CHECK,
  KEY_SELECTION,
  OperationProcessingError,
  ResponseBodyError,
  UnsupportedOperationError,
} from 'oauth4webapi';
import { problem, type Problem } from '../../kernel/problem.js';

/** Codes of an ID token or an answer of the browser that is not what was asked for. */
const forgeries: ReadonlySet<string> = new Set([
  INVALID_RESPONSE,
  JWT_CLAIM_COMPARISON,
  JWT_TIMESTAMP_CHECK,
  KEY_SELECTION,
]);

/** RFC 6749, section 4.1.2.1: the provider's own trouble. */
const ownTrouble: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable']);

/** A code as the audit keeps it: the browser could have sent anything. */
const shortCode = (code: string): string => code.replace(/[^a-z_]/g, '').slice(0, 40);

/** The provider does not answer, or not as one does; nobody did anything wrong. */
export const providerAway = (): Problem =>
  problem.unavailable('The sign-in of your organization does not answer.', {
    retryAfterSeconds: 5,
  });

const refused = (message: string, reason: string): Problem =>
  problem.forbidden(message, { reason });

/** What a person is told of a sign-in that failed at the provider. */
export function problemOfProvider(error: unknown): Problem {
  if (error instanceof AuthorizationResponseError) {
    if (ownTrouble.has(error.error)) return providerAway();
    return refused('Your organization did not sign you in.', shortCode(error.error));
  }
  if (error instanceof ResponseBodyError && error.error === 'invalid_grant') {
    return refused('This sign-in was used before, or took too long.', 'invalid_grant');
  }
  const isForged =
    error instanceof UnsupportedOperationError ||
    (error instanceof OperationProcessingError &&
      forgeries.has(error.code ?? '') &&
      !isOfBody(error));
  if (!isForged) return providerAway();
  return refused('What came back is not the sign-in that was begun.', reasonOf(error));
}

/** Whether it is about an answer as a whole: one that has no token is none of a provider. */
const isOfBody = ({ cause }: Error): boolean =>
  typeof cause === 'object' && cause !== null && 'body' in cause;

/** Which check failed: the claim where it was one, else what the library says of it. */
function reasonOf({ message, cause }: Error): string {
  const claim = (cause as { readonly claim?: unknown } | undefined)?.claim;
  return typeof claim === 'string' ? `claim ${claim}` : message.slice(0, 100);
}
