import { oauthScopeNames } from '../../kernel/oauth-scope.js';

export const paths = {
  authorize: '/api/oauth/per-user/authorize',
  register: '/api/oauth/per-user/register',
  token: '/api/oauth/per-user/token',
  revoke: '/api/oauth/per-user/revoke',
  consent: '/oauth/consent',
  /** Where the provider of an organization sends people back to. */
  signedIn: '/oauth/signed-in',
  /** Where it says that a sign-in is over. */
  signedOut: '/oauth/signed-out',
  serverMetadata: '/.well-known/oauth-authorization-server',
  resourceMetadata: '/.well-known/oauth-protected-resource',
  mcp: '/mcp',
} as const;

/** RFC 8414, section 2. The issuer is configured, and never what a Host header says. */
export const serverMetadata = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}${paths.authorize}`,
  token_endpoint: `${issuer}${paths.token}`,
  registration_endpoint: `${issuer}${paths.register}`,
  revocation_endpoint: `${issuer}${paths.revoke}`,
  jwks_uri: `${issuer}/.well-known/jwks.json`,
  scopes_supported: [...oauthScopeNames],
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
  service_documentation: `${issuer}/docs`,
});

/** RFC 9728, section 2. */
export const resourceMetadata = (issuer: string, resource: string) => ({
  resource,
  authorization_servers: [issuer],
  scopes_supported: [...oauthScopeNames],
  bearer_methods_supported: ['header'],
  resource_name: 'Durabill',
  resource_documentation: `${issuer}/docs`,
});

/** Where the metadata of the MCP server are: RFC 9728, section 3.1. */
export const mcpMetadataUrl = (issuer: string): string =>
  `${issuer}${paths.resourceMetadata}${paths.mcp}`;
