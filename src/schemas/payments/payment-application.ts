import { Type, type Static } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { exampleIds } from '../openapi/examples.js';
import { optional, Uuid, writeBody } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { Payment } from './payment.js';
import { RecordId } from '../http/record-id.js';

const PaidInvoice = Type.Object(
  {
    invoiceId: Uuid('Id of the invoice.'),
    invoiceNo: Type.String({ description: 'Number of the invoice.' }),
    amount: DecimalValue({ description: 'What of the payment is applied to it.' }),
    invoiceBalance: DecimalValue({ description: 'What of the invoice is not paid.' }),
    invoicePaymentStatus: Type.String({ description: 'Unpaid, Partially Paid or Paid.' }),
  },
  { description: 'An invoice that a payment pays.' },
);

export const AppliedPayment = Type.Object(
  {
    ...Payment.properties,
    invoices: Type.Array(PaidInvoice, { description: 'The invoices that it pays.' }),
  },
  { description: 'A payment, and which invoices it pays.' },
);

export const ApplyPayment = writeBody(
  {
    invoices: Type.Optional(
      Type.Array(
        Type.Object(
          {
            invoiceId: RecordId(
              'invoice',
              'An open invoice of the account and currency of the payment.',
            ),
            amount: optional(
              DecimalValue({
                description: 'How much to apply to it; as much as possible when left out.',
                exclusiveMinimum: '0',
              }),
            ),
          },
          { additionalProperties: false, description: 'An invoice to pay.' },
        ),
        { maxItems: 1000, description: 'Which to pay; the oldest due first when left out.' },
      ),
    ),
  },
  { description: 'Which invoices a payment pays.' },
);
export type ApplyPayment = Static<typeof ApplyPayment>;

/** Heavy: a payment may pay thousands. */
const place = { tag: 'Payments', family: 'records', isAddition: true, weight: 'heavy' } as const;

/** Which invoices a payment pays (docs/decisions/0107). */
export const paymentApplicationOperations = {
  list: operation({
    id: 'getPaymentApplications',
    embed: { record: 'payment', param: 'paymentId' },
    method: 'GET',
    path: '/v1/payments/{paymentId}/applications',
    ...place,
    summary: 'Show which invoices a payment pays',
    details: 'Each invoice with the amount, and what of it is still open.',
    success: reply.dto(AppliedPayment),
    errors: [404],
  }),
  apply: operation({
    id: 'applyPayment',
    method: 'POST',
    path: '/v1/payments/{paymentId}/apply',
    ...place,
    summary: 'Apply what is left of a payment to named invoices',
    body: ApplyPayment,
    example: { invoices: [{ invoiceId: exampleIds.invoice, amount: 10 }] },
    access: 'operator',
    details:
      'Without invoices it goes to the oldest due, a thousand at once. 409 when an invoice is not open, less is left than asked for, or the payment would pay more than 10,000.',
    success: reply.dto(AppliedPayment),
    errors: [400, 404, 409],
  }),
};
