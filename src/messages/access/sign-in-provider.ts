/** The claims of an ID token that was checked: who signed in, as the provider of an organization says. */
export type ProviderClaims = Readonly<Record<string, unknown>> & { readonly sub: string };

/** What a sign-in is recognized by when the browser comes back, all of it random and used once. */
export interface SignInSecrets {
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE (RFC 7636). */
  readonly verifier: string;
}

/** Whose sign-in is over: of a session, or of a person wherever he signed in. One of them is there. */
export interface EndedSignIn {
  readonly sub: string | null;
  readonly sid: string | null;
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
  /**
   * Whose sign-in is over, by a token that the provider sent. Throws a validation problem: it is none
   * of the provider; an unavailable one: its keys cannot be read.
   */
  endedBy(logoutToken: string): Promise<EndedSignIn>;
}
