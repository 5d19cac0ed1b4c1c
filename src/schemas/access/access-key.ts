import { Type } from 'typebox';
import { givenRoles } from '../../kernel/role.js';
import { Instant, nullable, optional, Text, writeBody } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { offsetQuery } from '../http/paging.js';

const Role = Type.Unsafe<(typeof givenRoles)[number]>({
  type: 'string',
  enum: [...givenRoles],
  description: 'What the key may do.',
});

const states = ['valid', 'expired', 'revoked'] as const;

const id = Type.String({ description: 'Id of the key: 16 hexadecimal digits, a part of it.' });
const shown = {
  name: nullable(Type.String({ description: 'What the key is for.' })),
  roles: Type.Array(Type.String({ description: 'A role.' }), { description: 'What it may do.' }),
  orgId: nullable(
    Type.String({ description: 'The organization of usage that is sent with it; null: any.' }),
  ),
  madeBy: nullable(
    Type.String({ description: 'Who made it, as the audit names them; null: that was not kept.' }),
  ),
};
const times = {
  createdAt: Instant('When it was made.'),
  expiresAt: nullable(Instant('When it ends; null: when it is revoked.')),
};

export const AccessKey = Type.Object(
  {
    id,
    ...shown,
    status: Type.Unsafe<(typeof states)[number]>({
      type: 'string',
      enum: [...states],
      description: 'How it stands.',
    }),
    ...times,
    revokedAt: nullable(Instant('When it was revoked.')),
    usedAt: nullable(Instant('When it was used last, to the minute; null: never.')),
  },
  { description: 'An access key, without its secret.' },
);

export const AccessKeyCreate = writeBody(
  {
    name: Text('What the key is for.', 100),
    roles: Type.Array(Role, {
      minItems: 1,
      maxItems: givenRoles.length,
      description: 'What it may do.',
    }),
    orgId: optional(
      Text(
        'The organization of usage that is sent with it, that of whoever makes it where they have one; none: messages name it.',
      ),
    ),
    expiresAt: optional(
      Instant('When it ends; none: with what it was made with, or when it is revoked.'),
    ),
  },
  { description: 'A key to make.' },
);

export const AccessKeyMade = Type.Object(
  { id, key: Type.String({ description: 'The key; it is shown this once.' }), ...shown, ...times },
  { description: 'A key that was made.' },
);

const place = { tag: 'Credentials', family: 'records', isAddition: true } as const;

/** Keys that a tenant makes itself (spec/beyond.md R471, R472). */
export const accessKeyOperations = {
  list: operation({
    id: 'listAccessKeys',
    method: 'GET',
    path: '/v1/access-keys',
    ...place,
    summary: 'List the access keys, the latest first',
    query: Type.Object(offsetQuery),
    details:
      'Also those that were revoked or have expired, the latest 900 of them. Secrets are never shown.',
    success: reply.offsetPage(AccessKey),
    errors: [400],
  }),
  create: operation({
    id: 'createAccessKey',
    method: 'POST',
    path: '/v1/access-keys',
    ...place,
    summary: 'Make an access key',
    description: 'The answer shows the key, this once. A tenant may have 100 that are valid.',
    details:
      'It may do no more than what it was made with: it ends no later than that key or token, has its ' +
      'organization where it has one, and what a user allowed an OAuth client makes none, but for the console.',
    body: AccessKeyCreate,
    example: { name: 'Sends usage', roles: ['OPERATOR'] },
    idempotency: 'none',
    showsSecret: true,
    success: reply.created(AccessKeyMade),
    errors: [400, 409],
  }),
  revoke: operation({
    id: 'revokeAccessKey',
    method: 'DELETE',
    path: '/v1/access-keys/{keyId}',
    ...place,
    textParams: ['keyId'],
    summary: 'Revoke an access key, with what OAuth clients were allowed with it',
    description:
      'It is refused within five seconds by every process, and stays in the list. One that was revoked ' +
      'before stays as it is.',
    success: reply.empty(),
    errors: [404],
  }),
};
