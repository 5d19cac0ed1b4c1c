import { Type } from 'typebox';
import { examples } from '../openapi/examples.js';
import { Uuid } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';

const texts = (description: string, maxItems: number, maxLength = 100) =>
  Type.Array(Type.String({ maxLength }), { description, maxItems });

/** spec/gateway.md R11, and RFC 7591, section 2. Members that it does not name are ignored. */
export const ClientRegistration = Type.Object(
  {
    client_name: Type.Optional(
      Type.String({ description: 'Name of the client, for people.', maxLength: 200 }),
    ),
    redirect_uris: Type.Array(Type.String({ maxLength: 1_000 }), {
      description:
        'Where the user may be sent back to: https, http on this machine, or an app (a scheme with a dot, such as com.example.app).',
      minItems: 1,
      maxItems: 10,
    }),
    grant_types: Type.Optional(texts('authorization_code, and refresh_token.', 20)),
    response_types: Type.Optional(texts('code.', 20)),
    token_endpoint_auth_method: Type.Optional(
      Type.String({ description: 'Whatever is asked for, it is none.', maxLength: 100 }),
    ),
    scope: Type.Optional(
      Type.String({ description: 'What it may ask for: mcp:read, mcp:write.', maxLength: 1_000 }),
    ),
  },
  { description: 'A client that registers itself (RFC 7591).' },
);

export const RegisteredClient = Type.Object(
  {
    client_id: Uuid('Id of the client.'),
    client_id_issued_at: Type.Integer({ description: 'When, in seconds since 1970.' }),
    client_name: Type.Optional(Type.String({ description: 'Name of the client.' })),
    redirect_uris: Type.Array(Type.String(), { description: 'Where users may be sent back to.' }),
    grant_types: Type.Array(Type.String(), {
      description: 'What it may use at the token endpoint.',
    }),
    response_types: Type.Array(Type.String(), { description: 'Always code.' }),
    token_endpoint_auth_method: Type.Literal('none', { description: 'A public client.' }),
    scope: Type.Optional(Type.String({ description: 'What it may ask for.' })),
  },
  { description: 'A registered client.' },
);

/** spec/gateway.md R17, and RFC 8707. What is wrong is told by a redirect where there is one. */
const authorizeQuery = Type.Object({
  response_type: Type.String({ description: 'code.', maxLength: 100 }),
  client_id: Type.String({ description: 'The client, from its registration.', maxLength: 100 }),
  redirect_uri: Type.String({ description: 'One that the client registered.', maxLength: 1_000 }),
  code_challenge: Type.String({
    description: 'Base64url of the SHA-256 of the code verifier (RFC 7636).',
    maxLength: 200,
  }),
  code_challenge_method: Type.String({ description: 'S256.', maxLength: 100 }),
  state: Type.Optional(
    Type.String({ description: 'Given back as it was sent.', maxLength: 2_000 }),
  ),
  scope: Type.Optional(Type.String({ description: 'What is asked for.', maxLength: 1_000 })),
  resource: Type.Optional(
    Type.String({ description: 'What the token is for (RFC 8707).', maxLength: 1_000 }),
  ),
});

const tag = 'OAuth';

export const oauthOperations = {
  register: operation({
    id: 'registerClient',
    method: 'POST',
    path: '/api/oauth/per-user/register',
    tag,
    summary: 'Register an OAuth client',
    description:
      'Open to everybody while an MCP client of this instance has the auth_type per_user_oauth; ' +
      '404 otherwise. A client that nobody uses within some days is forgotten.',
    family: 'gateway',
    access: 'public',
    body: ClientRegistration,
    bodyMax: 64 * 1024,
    example: examples.registration,
    success: reply.created(RegisteredClient),
    errors: [400, 404, 429],
  }),
  authorize: operation({
    id: 'authorizeClient',
    method: 'GET',
    path: '/api/oauth/per-user/authorize',
    tag,
    summary: 'Ask a user to let an OAuth client in',
    description:
      'Leads the browser to the consent screen. An unknown client or redirect URI is answered with ' +
      '400; whatever else is wrong, the redirect URI is told in error, error_description, state and iss.',
    family: 'gateway',
    access: 'public',
    query: authorizeQuery,
    success: reply.redirect(),
    errors: [400],
  }),
};
