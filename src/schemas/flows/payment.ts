import { Type } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { Picklist } from '../../kernel/picklist-field.js';
import { exampleIds } from '../openapi/examples.js';
import { DateText, FreeText, optional, Text } from '../fields/field.js';
import { flow, named, Reference, startNode } from './flow.js';
import { RecordId } from '../http/record-id.js';

const required = {
  account_id: named(
    'accountId',
    Reference('account', 'Account that pays: id, external id or number.', { isHeld: true }),
  ),
  amount: DecimalValue({ description: 'Amount.', minimum: '0' }),
  currency_id: named('currency', Reference('currency', 'Currency: id, code or name.')),
  payment_date: named('paymentDate', DateText('When it was paid.')),
  payment_method: named(
    'paymentMethod',
    Picklist('paymentMethod', { description: 'How it was paid.' }),
  ),
  payment_reference: named(
    'paymentReference',
    Text('Reference of the payment, unique among the payments.'),
  ),
};
const paymentStatus = (description: string) => Picklist('paymentStatus', { description });

export const paymentFlows = {
  savePayment: flow({
    slug: 'billing/payment/create',
    name: 'Payment Save Flow',
    description: 'Saves a payment that came in.',
    entity: 'payment',
    keyField: 'payment_reference',
    start: startNode({
      ...required,
      payment_status: named(
        'paymentStatus',
        optional(paymentStatus('How it stands; Completed when left out.')),
      ),
    }),
    example: {
      account_id: exampleIds.account,
      amount: 99.95,
      currency_id: 'USD',
      payment_date: '2026-04-30',
      payment_method: 'ACH',
      payment_reference: 'PAY-0002',
    },
  }),
  editPayment: flow({
    slug: 'billing/payment/edit',
    name: 'Payment Edit Flow',
    description: 'Changes what is given of a payment; one in draft is completed.',
    entity: 'payment',
    keyField: 'id',
    start: startNode({
      id: RecordId('payment', 'The payment.'),
      account_id: Type.Optional(required.account_id),
      amount: Type.Optional(required.amount),
      currency_id: Type.Optional(required.currency_id),
      payment_date: Type.Optional(required.payment_date),
      payment_method: Type.Optional(required.payment_method),
      payment_reference: Type.Optional(required.payment_reference),
      payment_status: named('paymentStatus', Type.Optional(paymentStatus('How it stands.'))),
      payment_type: named(
        'paymentType',
        Type.Optional(Picklist('paymentType', { description: 'Pay In or Pay Out.' })),
      ),
      comments: optional(FreeText('What there is to say of it.')),
      participant_name: named('participantName', optional(Text('Who paid or was paid.'))),
      gl_payment_date: named(
        'glPaymentDate',
        optional(DateText('When it was posted to the general ledger.')),
      ),
    }),
    example: { id: exampleIds.payment, comments: 'Checked' },
  }),
  deletePayment: flow({
    slug: 'billing/payment/delete',
    name: 'Payment Delete Flow',
    description: 'Deletes a payment.',
    entity: 'payment',
    keyField: 'id',
    start: startNode({ id: RecordId('payment', 'The payment.') }),
    example: { id: exampleIds.payment },
  }),
};
