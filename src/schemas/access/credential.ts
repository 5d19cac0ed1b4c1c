import { Type } from 'typebox';
import { Instant, nullable, Uuid } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { offsetQuery } from '../http/paging.js';

const texts = (description: string) =>
  Type.Array(Type.String({ description: 'A name.' }), { description });

export const OauthGrant = Type.Object(
  {
    id: Uuid('Id of the grant.'),
    clientId: Uuid('The client that speaks for the user.'),
    clientName: nullable(Type.String({ description: 'What the client calls itself.' })),
    subject: Type.String({ description: 'Who allowed it: subject of a token, or access key.' }),
    accessKeyId: nullable(
      Type.String({
        description: 'The access key that it ends with; null: a token, or a sign-in at a provider.',
      }),
    ),
    issuer: nullable(
      Type.String({
        description:
          'The OpenID Connect provider at which its user signed in; null: with a key or token.',
      }),
    ),
    roles: texts('What the user may do.'),
    scopes: texts('What of it the client may do.'),
    revokedReason: nullable(Type.String({ description: 'Why it was revoked.' })),
    createdAt: Instant('When it was allowed.'),
    expiresAt: Instant('When it ends unless its client asks for a token before.'),
    endsAt: nullable(Instant('When it ends with the key or token it was allowed with.')),
    revokedAt: nullable(Instant('When it was revoked.')),
  },
  { description: 'What a user allowed an OAuth client.' },
);

export const TokenRevocation = Type.Object(
  {
    jti: Uuid('The token: its claim `jti`.'),
    revokedAt: Instant('When it was revoked.'),
    revokedBy: Type.String({ description: 'Who revoked it.' }),
  },
  { description: 'A token that was revoked before its end.' },
);

const place = { tag: 'Credentials', family: 'records', isAddition: true } as const;

export const grantOperations = {
  list: operation({
    id: 'listOauthGrants',
    method: 'GET',
    path: '/v1/oauth/grants',
    ...place,
    summary: 'List what users allowed OAuth clients, the latest first',
    query: Type.Object(offsetQuery),
    details: 'Also those that were revoked, with the time.',
    success: reply.offsetPage(OauthGrant),
    errors: [400],
  }),
  revoke: operation({
    id: 'revokeOauthGrant',
    method: 'DELETE',
    path: '/v1/oauth/grants/{grantId}',
    ...place,
    summary: 'Revoke a grant with all tokens that came of it, at once',
    description: 'It stays in the list, with the time. One that was revoked before stays as it is.',
    success: reply.empty(),
    errors: [404],
  }),
};

export const tokenRevocationOperations = {
  list: operation({
    id: 'listTokenRevocations',
    method: 'GET',
    path: '/v1/tokens/revocations',
    ...place,
    summary: 'List the tokens that were revoked, the latest first',
    query: Type.Object(offsetQuery),
    details: 'A revocation is kept for as long as a token may live.',
    success: reply.offsetPage(TokenRevocation),
    errors: [400],
  }),
  revoke: operation({
    id: 'revokeToken',
    method: 'POST',
    path: '/v1/tokens/{jti}/revoke',
    ...place,
    summary: 'Revoke a token of this tenant by its claim jti',
    description:
      'It is refused within ten seconds by every process, and so is what OAuth clients were allowed ' +
      'with it. Tokens are not stored: any id is taken.',
    // Revoking twice is revoking once.
    idempotency: 'none',
    success: reply.dto(TokenRevocation),
    errors: [404],
  }),
};
