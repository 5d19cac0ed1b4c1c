import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { SignInSecrets } from '../../messages/access/sign-in-provider.js';
import { isUuid } from '../../kernel/id.js';

/** A sign-in at the provider that a browser began, of a flow that waits for its user. */
export interface SignInRequest {
  readonly flowId: string;
  /** The scopes that the user left. */
  readonly scopes: readonly string[];
  readonly secrets: SignInSecrets;
}

const keyOf = (secret: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', 'durabill sign-in at a provider', 32));

const randomLength = 16;

/**
 * Sign-ins that wait for their browser to come back. Nothing is stored: state, nonce and verifier
 * derive from random bytes, which travel in the state, from the secret of the browser and from a key
 * of this instance. Who has seen the state knows neither of the others, and in another browser none of
 * them is right (docs/decisions/0472).
 */
export class SignInRequests {
  readonly #key: Buffer;
  readonly #known: readonly Buffer[];

  constructor(secret: Buffer, previousSecrets: readonly Buffer[] = []) {
    this.#key = keyOf(secret);
    this.#known = [this.#key, ...previousSecrets.map(keyOf)];
  }

  /** Of a flow in the browser of this secret; each call makes other ones. */
  begin(flowId: string, scopes: readonly string[], browserSecret: string): SignInRequest {
    const asked = [flowId, randomBytes(randomLength).toString('base64url'), scopes.join(' ')];
    const text = Buffer.from(asked.join('.')).toString('base64url');
    const state = `${text}.${mac(this.#key, 'state', text, browserSecret)}`;
    return { flowId, scopes, secrets: secretsOf(this.#key, state, browserSecret) };
  }

  /** The sign-in of a state; undefined: this browser did not begin it here. */
  resume(state: string, browserSecret: string): SignInRequest | undefined {
    const [text = '', given = ''] = state.split('.');
    const key = this.#known.find((one) =>
      isSame(`${text}.${mac(one, 'state', text, browserSecret)}`, `${text}.${given}`),
    );
    if (key === undefined || state !== `${text}.${given}`) return undefined;
    const [flowId = '', , scopes = ''] = Buffer.from(text, 'base64url').toString().split('.');
    if (!isUuid(flowId)) return undefined;
    return { flowId, scopes: scopes.split(' '), secrets: secretsOf(key, state, browserSecret) };
  }
}

const mac = (key: Buffer, use: string, text: string, browserSecret: string): string =>
  createHmac('sha256', key).update(`${use} ${browserSecret} ${text}`).digest('base64url');

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

const secretsOf = (key: Buffer, state: string, browserSecret: string): SignInSecrets => ({
  state,
  nonce: mac(key, 'nonce', state, browserSecret),
  verifier: mac(key, 'verifier', state, browserSecret),
});
