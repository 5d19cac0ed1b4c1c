import { Type } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { Picklist } from '../../kernel/picklist-field.js';
import { examples } from '../openapi/examples.js';
import {
  CurrencyCode,
  DateText,
  FreeText,
  nullable,
  optional,
  Text,
  updateBody,
  Uuid,
  writeBody,
} from '../fields/field.js';
import { external, operation, reply } from '../http/operation.js';
import { pageQuery, searchQuery, viewQuery } from '../http/paging.js';
import { rowSpec } from '../http/row.js';
import { RecordId } from '../http/record-id.js';

export const PaymentCreate = writeBody(
  {
    accountId: RecordId('account', 'Account that pays or is paid.'),
    amount: optional(DecimalValue({ description: 'Amount; 0 when left out.', minimum: '0' })),
    currency: CurrencyCode('Currency code or name.'),
    paymentReference: Text('Reference of the payment, unique among the payments.'),
    paymentType: Picklist('paymentType', { description: 'Whether money came in or went out.' }),
    paymentMethod: Picklist('paymentMethod', {
      description: 'How it was paid. By Wallet is refused: nothing draws on wallets yet.',
    }),
    paymentDate: DateText('When it was paid.'),
    paymentStatus: optional(
      Picklist('paymentStatus', { description: 'How it stands; Completed when left out.' }),
    ),
    paymentGlStatus: optional(
      Picklist('paymentGlStatus', {
        description: 'How it stands in the general ledger; Pending when left out.',
      }),
    ),
    glPaymentDate: optional(DateText('When it was posted to the general ledger.')),
    isManualPayment: optional(
      Type.Boolean({ description: 'Whether a person entered it; false when left out.' }),
    ),
    participantName: optional(Text('Who paid or was paid.')),
    comments: optional(FreeText('What there is to say of it.')),
  },
  { description: 'A payment to save.', ignore: ['balance', 'balanceStatus'] },
);
export const PaymentUpdate = updateBody(PaymentCreate, [
  'amount',
  'paymentStatus',
  'paymentGlStatus',
]);

export const Payment = Type.Object(
  {
    id: Uuid('Id of the payment.'),
    paymentReference: Type.String({ description: 'Reference of the payment.' }),
    accountId: Uuid('Account that pays or is paid.'),
    amount: DecimalValue({ description: 'Amount.' }),
    balance: DecimalValue({ description: 'What of the amount is not applied to invoices.' }),
    currency: Type.String({ description: 'ISO code of its currency.' }),
    paymentStatus: Type.String({ description: 'How it stands, e.g. Completed.' }),
    balanceStatus: Type.String({ description: 'Unapplied, Partially Applied or Applied.' }),
    paymentType: Type.String({ description: 'Pay In or Pay Out.' }),
    paymentMethod: Type.String({ description: 'How it was paid.' }),
    paymentDate: DateText('When it was paid.'),
    approvalStatus: Type.String({ description: 'Draft, Pending Approval, Approved or Rejected.' }),
    paymentGlStatus: Type.String({ description: 'Pending or Posted.' }),
    glPaymentDate: nullable(DateText('When it was posted to the general ledger.')),
    isManualPayment: Type.Boolean({ description: 'Whether a person entered it.' }),
    participantName: nullable(Type.String({ description: 'Who paid or was paid.' })),
    comments: nullable(Type.String({ description: 'What there is to say of it.' })),
  },
  { description: 'A payment.' },
);

const paymentRow = rowSpec('Payment', Payment, {
  currency: 'currency',
  paymentMethod: 'paymentMethod',
  paymentType: 'paymentType',
  paymentStatus: 'paymentStatus',
  balanceStatus: 'balanceStatus',
  paymentGlStatus: 'paymentGlStatus',
  approvalStatus: 'approvalStatus',
});

const tag = 'Payments';
const paymentPath = external('/payments/{paymentId}');

/** Saving is a durable workflow; its result is the answer (spec/flows.md R30). */
export const paymentOperations = {
  list: operation({
    id: 'listPayments',
    embed: { filter: 'accountId' },
    method: 'GET',
    path: external('/payments'),
    tag,
    summary: 'List payments, the latest first',
    query: Type.Object({
      ...pageQuery,
      ...searchQuery('the paymentReference, comments or participantName'),
      accountId: Type.Optional(RecordId('account', 'The account that pays or is paid.')),
    }),
    details: 'By payment date; accountId shows those of one account.',
    success: reply.rowPage(paymentRow),
    errors: [400],
  }),
  get: operation({
    id: 'getPayment',
    embed: { record: 'payment', param: 'paymentId' },
    method: 'GET',
    path: paymentPath,
    tag,
    summary: 'Read a payment',
    query: Type.Object(viewQuery),
    details: 'With what of it is not applied yet, as balance.',
    success: reply.dto(Payment, paymentRow),
    errors: [400, 404],
  }),
  create: operation({
    id: 'createPayment',
    method: 'POST',
    path: external('/payments'),
    tag,
    summary: 'Save a payment',
    idempotency: 'flow',
    body: PaymentCreate,
    example: examples.payment,
    access: 'operator',
    details:
      'Completed, it pays the open invoices of its account and currency, the oldest due first; what is left stays on it.',
    success: reply.created(Payment),
    errors: [400, 409, 504],
  }),
  update: operation({
    id: 'updatePayment',
    method: 'PUT',
    path: paymentPath,
    tag,
    summary: 'Change a payment',
    body: PaymentUpdate,
    example: examples.paymentUpdate,
    access: 'operator',
    details: 'A lower amount takes back what it does not cover any more, the latest first.',
    success: reply.dto(Payment),
    errors: [400, 404, 409, 504],
  }),
  delete: operation({
    id: 'deletePayment',
    method: 'DELETE',
    path: paymentPath,
    tag,
    summary: 'Delete a payment',
    access: 'operator',
    details: 'What it has paid is open again.',
    success: reply.empty(),
    errors: [404, 504],
  }),
};
