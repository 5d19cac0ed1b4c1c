/** The claims of an ID token that was checked: who signed in, as the provider of an organization says. */
export type ProviderClaims = Readonly<Record<string, unknown>> & { readonly sub: string };

/** What a sign-in is recognized by when the browser comes back, all of it random and used once. */
export interface SignInSecrets {
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE (RFC 7636). */
  readonly verifier: string;
}

/** The OpenID Connect provider of an organization, at which its people sign in. */
export interface SignInProvider {
  readonly issuer: string;
  /** What people know it by. */
  readonly host: string;
  /** Where a browser is sent to sign in. Throws an unavailable problem: it does not answer. */
  addressOf(secrets: SignInSecrets, redirectUri: string): Promise<string>;
  /**
   * Who signed in, after the browser came back with these parameters. Throws a forbidden problem, whose
   * detail `reason` says what was wrong, or an unavailable one: the provider does not answer, or not as
   * a provider does.
   */
  claimsOf(
    parameters: URLSearchParams,
    secrets: SignInSecrets,
    redirectUri: string,
  ): Promise<ProviderClaims>;
}
