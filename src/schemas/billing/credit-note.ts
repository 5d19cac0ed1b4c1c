import { Type, type Static } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { exampleIds } from '../openapi/examples.js';
import { Text, Uuid } from '../fields/field.js';
import { RecordId } from '../http/record-id.js';

const CreditedItem = Type.Object(
  {
    itemId: Uuid('An item of the invoice.'),
    amount: DecimalValue({
      description: 'What is credited of it, without tax.',
      exclusiveMinimum: '0',
    }),
  },
  { additionalProperties: false, description: 'What is credited of an item.' },
);

const fields = {
  reason: Text('Why it is credited; the note says so.', 1000),
  items: Type.Optional(
    Type.Array(CreditedItem, {
      minItems: 1,
      // Ten thousand of them held the thread that serves for half a second (docs/decisions/0478).
      maxItems: 1_000,
      description: 'What is credited; all that is left of the invoice when left out.',
    }),
  ),
};

export const CreditNoteCreate = Type.Object(fields, {
  additionalProperties: false,
  description: 'What is credited of an invoice, and why.',
});
export type CreditNoteCreate = Static<typeof CreditNoteCreate>;

/** The input of the workflow: the note as JSON, whose decimals are texts. */
export interface CreditInvoiceInput {
  readonly invoiceId: string;
  readonly note: unknown;
}

const CreditInvoiceData = Type.Object(
  { invoiceId: RecordId('invoice', 'The invoice.'), ...fields },
  { additionalProperties: false, description: 'What is credited of an invoice, and why.' },
);

/** The workflow of credit notes, as callers execute it by its name. */
export const creditInvoiceWorkflow = {
  workflow: 'creditInvoice',
  name: 'credit-invoice',
  title: 'Credit of an Invoice',
  description:
    'Makes a credit note against an invoice, of some items or of all that is left: it lowers the ' +
    "invoice's balance at once.",
  data: CreditInvoiceData,
  example: { invoiceId: exampleIds.invoice, reason: 'The agreed price was 0.01.' },
} as const;
