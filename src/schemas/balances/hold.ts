import { Type, type Static } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { CurrencyCode, Instant, Text, Uuid } from '../fields/field.js';
import { examples } from '../openapi/examples.js';
import { operation, reply } from '../http/operation.js';
import { offsetQuery } from '../http/paging.js';
import { RecordId } from '../http/record-id.js';
import { ExplainedTransaction } from '../usage/usage-event.js';
import { UsageMessage } from '../usage/usage-message.js';

export const HoldCreate = Type.Object(
  {
    accountId: RecordId('account', 'Whose money is held.'),
    currency: CurrencyCode('The currency.'),
    amount: DecimalValue({ description: 'How much is held.', exclusiveMinimum: '0' }),
    expiresInSeconds: Type.Integer({
      minimum: 1,
      maximum: 2_592_000,
      description: 'When it is released by itself, at most 30 days.',
    }),
    key: Text('Your own key of it, unique: the same again is the same hold.'),
  },
  { additionalProperties: false, description: 'Money to hold.' },
);
export type HoldCreate = Static<typeof HoldCreate>;

const status = Type.Unsafe<'open' | 'committing' | 'committed' | 'released' | 'expired'>({
  type: 'string',
  enum: ['open', 'committing', 'committed', 'released', 'expired'],
  description: 'open, committing (its event is being rated), committed, released or expired.',
});

const holdFields = {
  id: Uuid('Id of the hold.'),
  accountId: Uuid('Whose money is held.'),
  currency: Type.String({ description: 'ISO code of the currency.' }),
  amount: DecimalValue({ description: 'How much was held.' }),
  key: Type.String({ description: 'Your own key of it.' }),
  status,
  expiresAt: Instant('When it is released by itself.'),
};

export const Hold = Type.Object(
  {
    ...holdFields,
    available: DecimalValue({ description: 'What may be held beside it.' }),
  },
  { description: 'Money that is held.' },
);

export const RunningHold = Type.Object(
  { ...holdFields, createdAt: Instant('When it was made.') },
  { description: 'Money that is held at this moment.' },
);

export const HoldCommit = Type.Object(
  {
    message: Type.Unsafe<Readonly<Record<string, unknown>>>({
      type: 'object',
      description: 'The usage event, as it would be ingested.',
      documented: UsageMessage,
    }),
  },
  { additionalProperties: false, description: 'What was used.' },
);

export const CommittedHold = Type.Object(
  {
    holdId: Uuid('The hold.'),
    status,
    accountId: Uuid('Whose money was held.'),
    currency: Type.String({ description: 'ISO code of the currency.' }),
    amount: DecimalValue({ description: 'What the event costs the account: the charge.' }),
    usageEventId: Uuid('The usage event.'),
    charge: ExplainedTransaction,
    charges: Type.Array(ExplainedTransaction, {
      description: 'All charges of the event; the first is that of the account of the hold.',
    }),
    drawnFromHold: DecimalValue({ description: 'What the hold has paid.' }),
    drawnFromBalance: DecimalValue({ description: 'What else was available and has paid.' }),
    billed: DecimalValue({ description: 'What is left of the charge, to be billed.' }),
    released: DecimalValue({ description: 'What was left of the hold.' }),
    available: DecimalValue({ description: 'What may be held now.' }),
  },
  { description: 'What became of a hold.' },
);

export const AccountBalance = Type.Object(
  {
    accountId: Uuid('The account.'),
    currency: Type.String({ description: 'ISO code of the currency.' }),
    balance: DecimalValue({ description: 'What is in its active wallets.' }),
    held: DecimalValue({ description: 'What of that is held.' }),
    available: DecimalValue({
      description: 'What may be held: without grants that are for some services only.',
    }),
    spent: Type.Object(
      {
        period: Type.String({ description: 'The running calendar month in UTC, such as 2026-11.' }),
        amount: DecimalValue({ description: 'The sum of its charges in it, before credits.' }),
      },
      { description: 'What the account has spent.' },
    ),
  },
  { description: 'What an account has and has spent.' },
);

const place = { tag: 'Wallets', family: 'records', isAddition: true } as const;

/** spec/beyond.md R268, R269, R271 to R274. */
export const holdOperations = {
  create: operation({
    id: 'createHold',
    method: 'POST',
    path: '/v1/holds',
    ...place,
    summary: 'Hold money of an account for what it is going to use',
    body: HoldCreate,
    example: examples.hold,
    access: 'operator',
    description:
      'Too little is 409 INSUFFICIENT_BALANCE with what is available. What is held nobody else can use until it is committed, released, or expires.',
    details: 'The same key with the same body is the same hold, with another body it is 409.',
    success: reply.created(Hold),
    errors: [400, 409],
  }),
  commit: operation({
    id: 'commitHold',
    method: 'POST',
    path: '/v1/holds/{holdId}/commit',
    ...place,
    summary: 'Publish and rate the usage event that money is held for',
    body: HoldCommit,
    example: examples.holdCommit,
    access: 'operator',
    description:
      'Its charge draws the hold first, then what is available; the rest is billed, and what is left of the hold is released.',
    details:
      'A message that cannot be rated is 400 and the hold stays; a hold that has expired or was released is 409, and so is an event that is rated already or commits another hold. The same message again gives the same charge. The charge is waited for as long as for a flow (504).',
    // The same message again is answered alike; a transaction of its own could not wait for rating.
    idempotency: 'none',
    success: reply.dto(CommittedHold),
    errors: [400, 404, 409, 502, 504],
  }),
  release: operation({
    id: 'releaseHold',
    method: 'DELETE',
    path: '/v1/holds/{holdId}',
    ...place,
    summary: 'Release a hold',
    access: 'operator',
    details: 'One that has expired or was released stays as it is; one that was committed is 409.',
    success: reply.empty(),
    errors: [404, 409],
  }),
  list: operation({
    id: 'listHolds',
    method: 'GET',
    path: '/v1/accounts/{accountId}/holds',
    ...place,
    summary: 'List what is held of an account at this moment, the next to expire first',
    query: Type.Object(offsetQuery),
    details: 'Those that are open or committing; what has ended is in the ledger of its wallets.',
    success: reply.offsetPage(RunningHold),
    errors: [400, 404],
  }),
  balance: operation({
    id: 'getAccountBalance',
    method: 'GET',
    path: '/v1/accounts/{accountId}/balance',
    ...place,
    summary: 'Read what an account has, what of it is held, and what it has spent this month',
    query: Type.Object({
      currency: Type.Optional(CurrencyCode('Needed where its wallets have several.')),
    }),
    details: 'True at the instant of the answer: what expires is gone when its time comes.',
    success: reply.dto(AccountBalance),
    errors: [400, 404],
  }),
};
