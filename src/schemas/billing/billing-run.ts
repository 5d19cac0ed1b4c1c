import { Type, type Static } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { daysFrom } from '../../kernel/time/date.js';
import { problem } from '../../kernel/problem.js';
import { Count, DateText, Instant, nullable, optional, Uuid } from '../fields/field.js';
import { ExecutionState } from '../flows/execution.js';
import { operation, reply } from '../http/operation.js';
import { offsetQuery } from '../http/paging.js';
import { RecordId } from '../http/record-id.js';
import { BillingProblem } from './next-invoice.js';

/** What a billing run is asked for (spec/flows.md R34). */
export const BillingRunData = Type.Object(
  {
    periodStart: DateText('First day of the period, inclusive.'),
    periodEnd: DateText('Last day of the period, inclusive; usage until then is billed.'),
    accountId: optional(RecordId('account', 'Bill only this account; all due ones when left out.')),
    dryRun: optional(
      Type.Boolean({ description: 'Whether to show what would be billed and write nothing.' }),
    ),
  },
  { additionalProperties: false, description: 'A billing run.' },
);
export type BillingRunData = Static<typeof BillingRunData>;

/** Runs over more days would only be a mistake; daily charges are made one by one. */
const daysMax = 36_600;

/** 400: the period ends before it begins, or is longer than a century. */
export function checkBillingRun({ periodStart, periodEnd }: BillingRunData): void {
  if (periodEnd < periodStart) {
    throw problem.validation(
      `'periodEnd' must not be before 'periodStart': '${periodEnd}' is before '${periodStart}'`,
      {
        field: 'periodEnd',
        value: periodEnd,
      },
    );
  }
  if (daysFrom(periodStart, periodEnd) > daysMax || periodEnd > '9000-12-31') {
    throw problem.validation(`'periodEnd' is too far away: a run is for at most 100 years`, {
      field: 'periodEnd',
      value: periodEnd,
    });
  }
}

/** The workflow of billing runs, as callers execute it by its name (spec/flows.md R22). */
export const billingRunWorkflow = {
  workflow: 'runBilling',
  name: 'billing-run',
  title: 'Billing Run',
  description:
    'Bills usage and the recurring and one-time charges of contract lines for a period: posts ' +
    'invoices for all due accounts, or for one. What is billed already is not billed again.',
  data: BillingRunData,
  example: { periodStart: '2026-03-01', periodEnd: '2026-03-31', dryRun: true },
} as const;

const atItsEnd = (description: string) => nullable(Count(`${description} Null: it has not ended.`));

const BillingRunFields = {
  id: Uuid('Id of the run, and of its execution.'),
  status: ExecutionState,
  actor: nullable(Type.String({ description: 'Who asked for it.' })),
  startedAt: Instant('When it began.'),
  completedAt: nullable(Instant('When it ended.')),
  periodStart: DateText('First day of the period.'),
  periodEnd: DateText('Last day of the period.'),
  accountId: nullable(Uuid('The only account that was billed; null: all that were due.')),
  dryRun: Type.Boolean({ description: 'Whether nothing was written.' }),
  error: nullable(Type.String({ description: 'Why it failed.' })),
  accountCount: atItsEnd('Accounts that it looked at.'),
  invoiceCount: atItsEnd('Invoices that it made, or of a dry run would make.'),
  problemCount: atItsEnd('What it left out or could not do as it should.'),
  leftOutCount: atItsEnd('The same, with each usage event counted, not each reason.'),
};

export type BillingRunKind = 'run' | 'dryRun';

export const BillingRunSummary = Type.Object(BillingRunFields, {
  description: 'A billing run.',
});

const BillingTotal = Type.Object(
  {
    invoiceType: Type.String({ description: 'Invoice or Credit Note.' }),
    currency: Type.String({ description: 'ISO code.' }),
    count: Count('How many there are.'),
    amount: DecimalValue({ description: 'Their sum without tax.' }),
    taxAmount: DecimalValue({ description: 'Sum of their tax.' }),
  },
  { description: 'What the invoices of a run come to, by type and currency.' },
);

export const BillingDraft = Type.Object(
  {
    accountId: Uuid('The account.'),
    accountName: nullable(Type.String({ description: 'Its name.' })),
    invoiceType: Type.String({ description: 'Invoice or Credit Note.' }),
    currency: Type.String({ description: 'ISO code.' }),
    amount: DecimalValue({ description: 'Sum of the items, without tax.' }),
    taxAmount: DecimalValue({ description: 'Tax.' }),
    total: DecimalValue({ description: 'amount + taxAmount.' }),
    previousInvoiceId: nullable(
      Uuid('The last posted invoice of an earlier period, of the same type and currency.'),
    ),
    previousTotal: nullable(DecimalValue({ description: 'Its total; null: there is none.' })),
    difference: nullable(DecimalValue({ description: 'total - previousTotal.' })),
  },
  { description: 'An invoice that a run would make, beside the one before.' },
);

const BillingProgress = Type.Object(
  {
    accountCount: Count('Accounts that may have something to bill.'),
    accountsDone: Count('Those that are billed.'),
    invoices: Count('Invoices so far.'),
    problems: Count('What was left out so far.'),
  },
  { description: 'How far a run is.' },
);

export const BillingRun = Type.Object(
  {
    ...BillingRunFields,
    invoiceDate: nullable(DateText('Date of its invoices; null: it has not ended.')),
    totals: nullable(
      Type.Array(BillingTotal, {
        description:
          'What the invoices come to. Null: it has not ended, or is a dry run of more invoices than drafts shows.',
      }),
    ),
    problems: Type.Array(BillingProblem, {
      description: 'What it left out, and why: of all accounts first; at most 1,000.',
    }),
    drafts: Type.Array(BillingDraft, {
      description: 'Of a dry run: the invoices that it would make, at most 200.',
    }),
    progress: nullable(BillingProgress),
    billedBy: nullable(
      Uuid(
        'Of a dry run: the latest run that began after it and bills the same period of the same account, or of all. Null: there is none.',
      ),
    ),
  },
  { description: 'A billing run, with what it left out and why.' },
);

const place = { tag: 'Invoices', family: 'records', isAddition: true } as const;

/** Billing runs as people look at them (spec/beyond.md R376, R377). */
export const billingRunOperations = {
  list: operation({
    id: 'listBillingRuns',
    method: 'GET',
    path: '/v1/billing-runs',
    ...place,
    summary: 'List billing runs, the latest first',
    details: 'Dry runs too: of which period, by whom, and how many invoices came of it.',
    query: Type.Object({
      ...offsetQuery,
      kind: Type.Optional(
        Type.Unsafe<BillingRunKind>({
          type: 'string',
          enum: ['run', 'dryRun'],
          description: 'Those that bill, or dry runs; all when left out.',
        }),
      ),
    }),
    success: reply.offsetPage(BillingRunSummary),
    errors: [400],
  }),
  get: operation({
    id: 'getBillingRun',
    method: 'GET',
    path: '/v1/billing-runs/{billingRunId}',
    ...place,
    summary: 'Read a billing run, with what it left out and why',
    details:
      'While it runs, how far it is. Of a dry run the invoices that it would make, each beside the one ' +
      'before, and the run that has billed its period since; those that a run has made are listed by ' +
      'listInvoices with its id.',
    success: reply.dto(BillingRun),
    errors: [404],
  }),
};
