import { Type } from 'typebox';
import { exampleIds } from '../openapi/examples.js';
import { Instant, Uuid } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { RecordId } from '../http/record-id.js';

export const EmbedCreate = Type.Object(
  {
    accountId: RecordId('account', 'The account that may be read.'),
    expiresInSeconds: Type.Integer({
      minimum: 1,
      maximum: 2_147_483_647,
      description: 'How long the token lives, in real time.',
    }),
  },
  { additionalProperties: false, description: 'For whom a token is made.' },
);

export const Embed = Type.Object(
  {
    token: Type.String({ description: 'A bearer token.' }),
    tokenId: Uuid('Its id (`jti`), by which it is revoked.'),
    accountId: Uuid('The account that it reads.'),
    expiresAt: Instant('When it ends.'),
  },
  { description: 'A token for the pages of one account.' },
);

/** Tokens for pages that show an account what it uses and owes (spec/beyond.md R252, R253). */
export const embedOperations = {
  create: operation({
    id: 'createEmbed',
    isAddition: true,
    method: 'POST',
    path: '/v1/embeds',
    tag: 'Credentials',
    family: 'records',
    summary: "Make a token that reads one account's usage, invoices and receipts",
    description:
      'And nothing else: for pages that show a customer what it uses and owes. Records of other ' +
      'accounts do not exist for it.',
    details:
      'Lists of usage events, totals, rated transactions, invoices and payments have the account as ' +
      'their filter. POST /v1/tokens/{jti}/revoke ends it early.',
    body: EmbedCreate,
    example: { accountId: exampleIds.account, expiresInSeconds: 900 },
    idempotency: 'none',
    showsSecret: true,
    success: reply.created(Embed),
    errors: [400],
  }),
};
