/** What a client may be allowed to do, in the words that the consent screen shows. */
export const oauthScopes = {
  'mcp:read': {
    title: 'Read billing data',
    text: 'Accounts, contracts, services, prices, usage, charges, payments and invoices.',
  },
  'mcp:write': {
    title: 'Change billing data',
    text: 'Run flows such as creating, changing, approving and deleting accounts, contracts, services and payments.',
  },
} as const;

export type OauthScope = keyof typeof oauthScopes;

export const oauthScopeNames = Object.keys(oauthScopes) as readonly OauthScope[];

export const isOauthScope = (name: string): name is OauthScope => Object.hasOwn(oauthScopes, name);

/** The names of a space-separated list (RFC 6749, section 3.3), each once. */
export const scopeNames = (text: string): string[] => [
  ...new Set(text.split(' ').filter((name) => name !== '')),
];

/** Whether scopes suffice: whoever may write may read (docs/decisions/0097). */
export const allowsScope = (granted: readonly string[], needed: OauthScope): boolean =>
  granted.includes('mcp:write') || granted.includes(needed);
