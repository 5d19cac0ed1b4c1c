import { Type } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { DateText, nullable, Uuid } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { Invoice } from './invoice.js';

/** An invoice as a billing run would make it. */
export const DraftInvoice = Type.Object(
  {
    ...Invoice.properties,
    invoiceNo: nullable(Type.String({ description: 'Null: numbers are given when it is posted.' })),
  },
  { description: 'An invoice that a billing run would make.' },
);

export const LeftOutUsage = Type.Object(
  {
    code: Type.String({ description: 'Why it is rejected.' }),
    events: Type.Integer({ minimum: 1, description: 'How many events.' }),
  },
  { description: 'Usage events that are rejected for one reason.' },
);

export const BillingProblem = Type.Object(
  {
    accountId: nullable(Uuid('The account; null: it concerns the whole tenant.')),
    contractServiceId: nullable(Uuid('The contract line, where it is about one.')),
    chargeType: nullable(Type.String({ description: 'Usage, Subscription or OTC.' })),
    periodStart: nullable(DateText('First day of the period that is concerned.')),
    code: Type.String({ description: 'A stable code, e.g. TAX_RATE_MISSING.' }),
    message: Type.String({ description: 'What is the matter, and what to do.' }),
    events: Type.Optional(Type.Integer({ description: 'How many usage events it is about.' })),
  },
  { description: 'What a billing run leaves out or could not do as it should.' },
);

const WaitingDifference = Type.Object(
  {
    correctedInvoiceId: Uuid('The invoice that was corrected.'),
    correctedInvoiceNo: Type.String({ description: 'Its number.' }),
    currency: Type.String({ description: 'ISO code.' }),
    amount: DecimalValue({
      description: 'What it comes to without tax, exact; below zero it is owed to the account.',
    }),
  },
  { description: 'What corrections of an invoice come to.' },
);

export const NextInvoice = Type.Object(
  {
    accountId: Uuid('The account.'),
    periodStart: DateText('First day of the running period, the calendar month.'),
    periodEnd: DateText('Last day of it.'),
    invoiceDate: DateText('Today: the date of the invoices if they were made now.'),
    invoices: Type.Array(DraftInvoice, {
      description:
        'What would be posted, with items and taxes: an invoice for each currency, and credit notes. Empty: nothing is to be billed.',
    }),
    rejected: Type.Array(LeftOutUsage, {
      description: 'Usage of the account and the period that is rejected, by reason.',
    }),
    pending: Type.Integer({
      minimum: 0,
      description: 'Events of the tenant that have arrived and are not rated yet.',
    }),
    problems: Type.Array(BillingProblem, {
      description: 'What the run would report: charges without a price, tax codes without a rate.',
    }),
    waiting: Type.Array(WaitingDifference, {
      description:
        'What corrections come to that no invoice of `invoices` has: it waits until something else is billed.',
    }),
  },
  { description: 'What a billing run would bill an account now.' },
);

/** What would be billed now (spec/beyond.md R240 to R242). */
export const nextInvoiceOperations = {
  get: operation({
    id: 'getNextInvoice',
    isAddition: true,
    weight: 'heavy',
    method: 'GET',
    path: '/v1/accounts/{accountId}/next-invoice',
    tag: 'Invoices',
    family: 'records',
    summary: 'Show what a billing run would bill an account now',
    description:
      'Drafts of the running month with items and taxes, and what usage is rejected or pending.',
    details:
      'It is computed as a billing run computes it, and nothing is written. Usage of earlier months ' +
      'that no invoice has yet is on it, as it would be on the invoice.',
    success: reply.dto(NextInvoice),
    errors: [404],
  }),
};
