import { Type, type Static } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { nullable, Uuid } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { exampleIds } from '../openapi/examples.js';
import { CreditNoteCreate } from './credit-note.js';
import { BillingProblem } from './next-invoice.js';

const currency = Type.String({ description: 'ISO code of its currency.' });
const amount = DecimalValue({ description: 'Without tax.' });
const taxAmount = DecimalValue({ description: 'The tax.' });
const total = DecimalValue({ description: 'With tax.' });

const FreedPayment = Type.Object(
  {
    paymentId: Uuid('The payment.'),
    paymentReference: nullable(Type.String({ description: 'Its reference.' })),
    amount: DecimalValue({ description: 'What it gets back from the invoice.' }),
    unapplied: DecimalValue({ description: 'What of the payment would pay nothing afterwards.' }),
  },
  { description: 'A payment that pays less of the invoice.' },
);
/** An invoice may be paid by more than one would read. */
export const freedPaymentsShown = 1_000;

const payments = Type.Array(FreedPayment, {
  description: `Payments that get something back, of those ${freedPaymentsShown} that were applied last.`,
});

const balances = {
  balanceBefore: DecimalValue({ description: 'What is open of the invoice now.' }),
  balanceAfter: DecimalValue({ description: 'What would be open of it.' }),
};

/** What a credit note would come to. */
export const CreditPreview = Type.Object(
  { currency, amount, taxAmount, total, ...balances, payments },
  { description: 'What a credit note would come to, and what it would do.' },
);
export type CreditPreview = Static<typeof CreditPreview>;

const Rebilled = Type.Object(
  {
    invoiceType: Type.String({ description: 'Invoice or Credit Note.' }),
    currency,
    amount,
    taxAmount,
    total,
  },
  { description: 'An invoice that a billing run would make.' },
);

/** What voiding an invoice would do. */
export const VoidPreview = Type.Object(
  {
    currency,
    total: DecimalValue({ description: 'What nobody would owe any more, with tax.' }),
    ...balances,
    payments,
    wallets: Type.Array(
      Type.Object(
        {
          walletId: Uuid('The wallet.'),
          amount: DecimalValue({ description: 'What its balance would rise by.' }),
        },
        { description: 'A wallet.' },
      ),
      { description: 'Wallets whose grants get something back.' },
    ),
    rebilled: Type.Array(Rebilled, {
      description: 'What a billing run of its account and period would make then.',
    }),
    problems: Type.Array(BillingProblem, {
      description: 'What that run would leave out, and why.',
    }),
  },
  { description: 'What voiding an invoice would do, and what would be billed instead.' },
);
export type VoidPreview = Static<typeof VoidPreview>;

const place = {
  isAddition: true,
  weight: 'heavy',
  method: 'POST',
  tag: 'Invoices',
  family: 'records',
  access: 'operator',
  // It locks what it shows, so that it needs the scope of writing; repeated, it shows the same.
  idempotency: 'none',
} as const;

/** What mending an invoice would do (spec/beyond.md R468). */
export const invoicePreviewOperations = {
  credit: operation({
    ...place,
    id: 'previewCreditNote',
    path: '/v1/invoices/{invoiceId}/credit-notes/preview',
    summary: 'Show what a credit note would come to',
    description:
      'With its tax, what would be open of the invoice, and what payments would get back. Nothing is written.',
    details: 'It is refused as the note would be.',
    body: CreditNoteCreate,
    example: {
      reason: 'The agreed price was 0.01.',
      items: [{ itemId: exampleIds.item, amount: 2.5 }],
    },
    success: reply.dto(CreditPreview),
    errors: [404, 409],
  }),
  void: operation({
    ...place,
    id: 'previewVoid',
    path: '/v1/invoices/{invoiceId}/void/preview',
    summary: 'Show what voiding an invoice would do, and what would be billed instead',
    description:
      'What payments and wallets would get back, and what a billing run of its account and period would ' +
      'make then. Nothing is written.',
    details: 'It is refused as voiding it would be.',
    success: reply.dto(VoidPreview),
    errors: [404, 409],
  }),
};
