import { createHash, timingSafeEqual } from 'node:crypto';
import type { StoredCode } from '../../access/oauth/grants.js';
import { oauthFault } from './oauth-fault.js';

const verifierForm = /^[A-Za-z0-9\-._~]{43,128}$/;

/** RFC 7636, section 4.1. */
export function checkVerifierForm(verifier: string): void {
  if (verifierForm.test(verifier)) return;
  throw oauthFault(
    'invalid_request',
    "'code_verifier' must be 43 to 128 letters, digits, '-', '.', '_' or '~'",
    'code_verifier',
  );
}

/** RFC 7636, section 4.6. */
export function checkVerifier(code: StoredCode, verifier: string): void {
  const given = createHash('sha256').update(verifier).digest();
  if (!timingSafeEqual(given, Buffer.from(code.codeChallenge, 'base64url'))) {
    throw oauthFault('invalid_grant', "'code_verifier' does not fit.");
  }
}
