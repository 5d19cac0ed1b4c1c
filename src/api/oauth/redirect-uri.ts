import { oauthFault } from './oauth-fault.js';

/** The characters of a URI (RFC 3986, section 2); no others reach a Location header. */
const uriCharacters = /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/;

/** RFC 8252, section 7.3: a client on the user's machine listens on a port that it gets. */
const loopback = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::\d{1,5})?((?:[/?].*)?)$/i;

/**
 * RFC 8252, section 7.1: an app's own scheme is a domain name of its maker, so it holds a dot. Those
 * without one belong to browsers and systems (javascript:, ms-msdt:, search-ms:, ssh:).
 */
const ownScheme = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/;

/** Addresses of MCP clients in use that have no such scheme; nothing else of their schemes is taken. */
const knownAppUris = new Set(['cursor://anysphere.cursor-mcp/oauth/callback']);

type Check = (uri: string, url: URL) => string | undefined;

/** RFC 6749, section 3.1.2: no fragment. */
const hasNoFragment: Check = (uri) => (uri.includes('#') ? 'must have no fragment' : undefined);

/** RFC 3986, section 3.2.1: user information serves to deceive. */
const hasNoUserInfo: Check = (_uri, { username, password }) =>
  username === '' && password === '' ? undefined : 'must have no user information';

/** RFC 8252, sections 7.1 and 8.4: https, loopback, or the scheme of an app. */
const hasSafeScheme: Check = (uri, { protocol }) =>
  protocol === 'https:' || protocol === 'http:' || ownScheme.test(protocol) || knownAppUris.has(uri)
    ? undefined
    : `must not have the scheme ${protocol}: use https, or one with a dot (com.example.app:)`;

/** OAuth 2.1, section 2.3.1: plain http only where it does not leave the machine. */
const isEncryptedOrLocal: Check = (uri, { protocol }) =>
  protocol === 'http:' && !loopback.test(uri)
    ? 'must use https, except on 127.0.0.1, [::1] or localhost'
    : undefined;

const checks = [hasNoFragment, hasNoUserInfo, hasSafeScheme, isEncryptedOrLocal];

/** Throws `invalid_redirect_uri` (RFC 7591, section 3.2.2) for what may not be registered. */
export function checkRedirectUri(uri: string, field: string): void {
  const fault =
    uriCharacters.test(uri) && URL.canParse(uri)
      ? checks.map((check) => check(uri, new URL(uri))).find((found) => found !== undefined)
      : 'must be an absolute URI';
  if (fault !== undefined) throw oauthFault('invalid_redirect_uri', `'${field}' ${fault}`, field);
}

const withoutPort = (uri: string): string | undefined => {
  const [, origin, rest] = loopback.exec(uri) ?? [];
  return origin === undefined ? undefined : `${origin.toLowerCase()}${rest ?? ''}`;
};

/** OAuth 2.1, section 4.1.3: equal to one that is registered, or, on loopback, but for the port. */
export function isRegistered(uri: string, registered: readonly string[]): boolean {
  if (registered.includes(uri)) return true;
  // A port above 65535 makes it no URI.
  const local = uriCharacters.test(uri) && URL.canParse(uri) ? withoutPort(uri) : undefined;
  return local !== undefined && registered.some((known) => withoutPort(known) === local);
}

/** Whether a URI leads to this machine, or to a program on it. */
export const isLocal = (uri: string): boolean => loopback.test(uri);

/** The URI with parameters added to its query, whatever it holds already (RFC 6749, 4.1.2). */
export function withParameters(
  uri: string,
  parameters: Readonly<Record<string, string | null>>,
): string {
  const given = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  const query = new URLSearchParams(given).toString();
  return `${uri}${uri.includes('?') ? '&' : '?'}${query}`;
}
