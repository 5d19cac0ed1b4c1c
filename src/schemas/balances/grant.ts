import { Type, type Static, type TUnsafe } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { CurrencyCode, Instant, nullable, optional, Text, Uuid } from '../fields/field.js';
import { examples } from '../openapi/examples.js';
import { operation, reply } from '../http/operation.js';
import { offsetQuery } from '../http/paging.js';
import { RecordId } from '../http/record-id.js';

const oneOf = <const V extends readonly string[]>(values: V, description: string) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: values, description });

/** An instant, or a date as its midnight in UTC (spec/beyond.md R2). */
const When = (description: string): TUnsafe<string> =>
  Type.Unsafe<string>({
    description: `${description} An instant, or a date as its UTC midnight.`,
    dateOrInstant: true,
  });

const kinds = ['purchased', 'promotional'] as const;
const Kind = oneOf(kinds, 'purchased (it was paid for) or promotional.');

export const GrantCreate = Type.Object(
  {
    externalId: Text('Your own id of it, unique in the wallet: the same again is the same grant.'),
    amount: DecimalValue({ description: 'How much.', exclusiveMinimum: '0' }),
    kind: Kind,
    currency: optional(CurrencyCode('The currency of the wallet; another one is refused.')),
    priority: optional(
      Type.Integer({
        minimum: -1_000_000,
        maximum: 1_000_000,
        description: 'Of several grants, the lower ones pay first; 0 when left out.',
      }),
    ),
    effectiveFrom: optional(When('When it takes effect; at once when left out.')),
    expiresAt: optional(When('When what is left of it expires; never when left out.')),
    serviceIds: optional(
      Type.Array(RecordId('service', 'A service.'), {
        minItems: 1,
        maxItems: 100,
        description: 'The services whose charges it pays; all when left out.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Money for a wallet.' },
);
export type GrantCreate = Static<typeof GrantCreate>;

export const WalletGrant = Type.Object(
  {
    id: Uuid('Id of the grant.'),
    walletId: Uuid('The wallet.'),
    externalId: Type.String({ description: 'Your own id of it.' }),
    kind: Kind,
    amount: DecimalValue({ description: 'How much was granted.' }),
    remaining: DecimalValue({ description: 'What is left of it.' }),
    held: DecimalValue({ description: 'What of that is promised to holds.' }),
    currency: nullable(Type.String({ description: 'ISO code of the currency of the wallet.' })),
    priority: Type.Integer({ description: 'Lower ones pay first.' }),
    status: oneOf(
      ['pending', 'active', 'used', 'expired', 'revoked'],
      'pending (not in effect yet), active, used, expired or revoked.',
    ),
    effectiveFrom: Instant('When it takes effect.'),
    expiresAt: nullable(Instant('When what is left of it expires; null: never.')),
    revokedAt: nullable(Instant('When it was revoked.')),
    serviceIds: nullable(
      Type.Array(Uuid('A service.'), { description: 'Whose charges it pays; null: all.' }),
    ),
    createdAt: Instant('When it was made.'),
  },
  { description: 'Money that a wallet was given, and what is left of it.' },
);

const entryKinds = ['grant', 'draw', 'return', 'hold', 'release', 'expire', 'revoke'] as const;
const EntryKind = oneOf(entryKinds, 'grant, draw, return, hold, release, expire or revoke.');

export const WalletEntry = Type.Object(
  {
    id: Uuid('Id of the entry.'),
    number: Type.Integer({ description: 'Its number in the wallet, from 1, without gaps.' }),
    walletId: Uuid('The wallet.'),
    kind: EntryKind,
    amount: DecimalValue({
      description: 'What it moves the balance by, with its sign; 0 of holds and releases.',
    }),
    held: nullable(DecimalValue({ description: 'What a hold promises, or a release frees.' })),
    balanceAfter: DecimalValue({ description: 'The balance with it.' }),
    grantId: Uuid('The grant whose money it is.'),
    externalId: Type.String({ description: 'The externalId of that grant.' }),
    chargeId: nullable(
      Uuid('The charge that caused it: a rated transaction, or a recurring charge of an invoice.'),
    ),
    usageEventId: nullable(Uuid('The usage event of that charge.')),
    holdId: nullable(Uuid('The hold that caused it.')),
    createdAt: Instant('When it was entered.'),
  },
  { description: 'A line of the ledger of a wallet.' },
);

const place = {
  tag: 'Wallets',
  family: 'records',
  isAddition: true,
} as const;

/** spec/beyond.md R260 to R264, R267. */
export const walletGrantOperations = {
  list: operation({
    id: 'listWalletGrants',
    method: 'GET',
    path: '/v1/wallets/{walletId}/grants',
    ...place,
    summary: 'List the grants of a wallet, the oldest first',
    query: Type.Object(offsetQuery),
    details: 'With what is left of each; also those that have ended.',
    success: reply.offsetPage(WalletGrant),
    errors: [400, 404],
  }),
  create: operation({
    id: 'createWalletGrant',
    method: 'POST',
    path: '/v1/wallets/{walletId}/grants',
    ...place,
    summary: 'Put money into a wallet',
    body: GrantCreate,
    example: examples.walletGrant,
    access: 'operator',
    description:
      'Charges of the account in the currency of the wallet draw on it from then on: lower priority first, then earlier expiry, then older.',
    details:
      'The same externalId with the same body gives the grant that there is; with another body it is 409.',
    success: reply.created(WalletGrant),
    errors: [400, 404, 409],
  }),
  revoke: operation({
    id: 'revokeWalletGrant',
    method: 'POST',
    path: '/v1/wallets/{walletId}/grants/{grantId}/revoke',
    ...place,
    summary: 'Take back what is left of a grant',
    access: 'operator',
    description: 'What is promised to holds stays theirs. Revoking twice is revoking once.',
    success: reply.dto(WalletGrant),
    errors: [404],
  }),
  entries: operation({
    id: 'listWalletEntries',
    method: 'GET',
    path: '/v1/wallets/{walletId}/entries',
    ...place,
    summary: 'List the ledger of a wallet, the oldest entry first',
    query: Type.Object({
      ...offsetQuery,
      kind: Type.Optional(EntryKind),
      grantId: Type.Optional(Uuid('Entries of this grant.')),
    }),
    details: 'Each with the balance after it; their sum is the balance.',
    success: reply.offsetPage(WalletEntry),
    errors: [400, 404],
  }),
};
