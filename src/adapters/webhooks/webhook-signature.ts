import { createHmac, timingSafeEqual } from 'node:crypto';
import { webhookSecretPrefix as prefix } from '../../platform/webhook-secret.js';

/** The key that a secret stands for: what follows `whsec_` is base64, another text is its bytes. */
const keyOf = (secret: string): Buffer =>
  secret.startsWith(prefix)
    ? Buffer.from(secret.slice(prefix.length), 'base64')
    : Buffer.from(secret, 'utf8');

/** What is signed of a delivery: its id, when this attempt was made, and the body to the byte. */
export interface SignedContent {
  readonly id: string;
  /** In whole seconds. */
  readonly timestamp: number;
  readonly body: string;
}

const signatureBy = (secret: string, { id, timestamp, body }: SignedContent): string =>
  createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');

/** The header `webhook-signature`: one signature for each secret (Standard Webhooks). */
export const signWebhook = (secrets: readonly string[], content: SignedContent): string =>
  secrets.map((secret) => `v1,${signatureBy(secret, content)}`).join(' ');

/** Whether one of the signatures of a header is right. */
export function isSigned(secret: string, content: SignedContent, header: string): boolean {
  const expected = Buffer.from(`v1,${signatureBy(secret, content)}`);
  return header.split(' ').some((signature) => {
    const given = Buffer.from(signature);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}
