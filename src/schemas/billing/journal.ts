import { Type } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { DateText, Instant, nullable, Uuid } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { halfOpenRangeQuery, offsetQuery } from '../http/paging.js';
import { RecordId } from '../http/record-id.js';

/** The accounts of the ledger, with what each holds. A debit is above zero, a credit below. */
export const journalAccounts = {
  receivable: 'what accounts owe on posted invoices; below zero, what credit notes owe them',
  unbilled: 'what was charged, no grant has paid and no invoice has yet',
  cash: 'payments that came in, less those that went out',
  clearing: 'money for purchased grants that was taken outside of payments',
  unapplied: 'payments that pay no invoice yet',
  wallet: 'what is left of purchased grants',
  promotional: 'what is left of promotional grants',
  deferred: 'what was charged for days to come',
  tax: 'tax of posted invoices',
  revenue: 'charges, as they are earned',
  breakage: 'purchased grants that expired unused',
  payouts: 'what is owed to accounts for their usage',
  promotions: 'promotional grants that were given, less what of them expired',
  credited: 'what credit notes took off invoices, without tax',
  rounding: 'what rounding to minor units has added or left out',
  opening: 'what there was before the journal began',
} as const;
export type JournalAccount = keyof typeof journalAccounts;
const accountNames = Object.keys(journalAccounts) as JournalAccount[];

export const journalKinds = [
  'usage',
  'recurring',
  'adjustment',
  'recognition',
  'grant',
  'draw',
  'return',
  'expire',
  'revoke',
  'invoice',
  'credit-note',
  'void',
  'payment',
  'application',
  'opening',
] as const;

const oneOf = <const V extends readonly string[]>(values: V, description: string) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values], description });

const Account = oneOf(
  accountNames,
  `An account of the ledger: ${accountNames.map((name) => `${name} (${journalAccounts[name]})`).join(', ')}.`,
);
const Kind = oneOf(
  journalKinds,
  'usage (a minute of it), recurring (a charge of a contract line), adjustment (what a minimum, maximum or ' +
    'commitment made of a period), recognition (a day of deferred revenue), ' +
    'grant, draw, return, expire or revoke of a wallet, invoice, credit-note, void, payment, application ' +
    '(of a payment to an invoice) or opening.',
);

export const JournalPosting = Type.Object(
  {
    account: Account,
    amount: DecimalValue({ description: 'Above zero a debit, below a credit.' }),
  },
  { description: 'What an entry moves on an account of the ledger.' },
);

export const JournalEntry = Type.Object(
  {
    id: Uuid('Id of the entry.'),
    at: Instant('When it was booked; of usage the minute in which it was rated.'),
    kind: Kind,
    accountId: Uuid('The billed account.'),
    currency: Type.String({ description: 'ISO code; XXX of a wallet without a currency.' }),
    recordType: nullable(
      Type.String({ description: 'invoice, payment, wallet or charge: what it is about.' }),
    ),
    recordId: nullable(Uuid('Id of that record.')),
    postings: Type.Array(JournalPosting, { description: 'Their amounts add up to zero.' }),
  },
  { description: 'A movement of money.' },
);

const sums = {
  currency: Type.String({ description: 'ISO code.' }),
  debit: DecimalValue({ description: 'Sum of the debits.' }),
  credit: DecimalValue({ description: 'Sum of the credits, above zero.' }),
};

export const TrialBalance = Type.Object(
  {
    at: Instant('The instant of which it is: all that was booked before it.'),
    recognizedUntil: nullable(
      DateText('The revenue of days before it is recognized; null where nothing was deferred.'),
    ),
    accounts: Type.Array(
      Type.Object(
        {
          account: Account,
          ...sums,
          balance: DecimalValue({ description: 'Debits less credits.' }),
        },
        { description: 'An account of the ledger in a currency.' },
      ),
      { description: 'The accounts that have postings.' },
    ),
    totals: Type.Array(
      Type.Object(sums, { description: 'A currency: its debits are its credits.' }),
      { description: 'By currency.' },
    ),
  },
  { description: 'The balances of all accounts of the ledger.' },
);

const place = { tag: 'Journal', family: 'records', isAddition: true, weight: 'heavy' } as const;

/** spec/beyond.md R301 to R305. */
export const journalOperations = {
  list: operation({
    id: 'listJournalEntries',
    method: 'GET',
    path: '/v1/journal',
    ...place,
    summary: 'List the movements of money, the oldest first',
    description:
      'Charges, draws on grants, grants, invoices, credit notes, payments and what they pay, recognized ' +
      'revenue and expiry, each with postings that add up to zero. Later entries come behind, so pages stay.',
    details:
      'Usage is one entry for an account and a minute at most, some seconds after it was rated; the trial ' +
      'balance has it at once.',
    query: Type.Object({
      ...offsetQuery,
      ...halfOpenRangeQuery('Entries'),
      accountId: Type.Optional(RecordId('account', 'Entries of this account.')),
      account: Type.Optional(Account),
      kind: Type.Optional(Kind),
    }),
    success: reply.offsetPage(JournalEntry),
    errors: [400],
  }),
  trialBalance: operation({
    id: 'getTrialBalance',
    method: 'GET',
    path: '/v1/journal/trial-balance',
    ...place,
    summary: 'Sum up all accounts of the ledger',
    description: 'Now, with what was rated a moment ago, or at an instant of the past.',
    details:
      'Without `at` it is of now. An instant of the past counts as the beginning of its minute, since usage is ' +
      'booked by minutes.',
    query: Type.Object({
      at: Type.Optional(
        Type.Unsafe<string>({
          description: 'What was booked before this instant; a date is its midnight in UTC.',
          dateOrInstant: true,
        }),
      ),
      accountId: Type.Optional(RecordId('account', 'Of this account alone.')),
    }),
    success: reply.dto(TrialBalance),
    errors: [400],
  }),
};
