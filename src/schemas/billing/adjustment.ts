import { Type, type Static } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { Picklist } from '../../kernel/picklist-field.js';
import {
  CurrencyCode,
  DateText,
  Instant,
  nullable,
  optional,
  updateBody,
  Uuid,
  writeBody,
} from '../fields/field.js';
import { examples } from '../openapi/examples.js';
import { operation, reply } from '../http/operation.js';
import { offsetQuery } from '../http/paging.js';
import { RecordId } from '../http/record-id.js';

export const adjustmentKinds = [
  'discountPercent',
  'discountAmount',
  'minimum',
  'maximum',
  'commitment',
] as const;

const Kind = Type.Unsafe<(typeof adjustmentKinds)[number]>({
  type: 'string',
  enum: [...adjustmentKinds],
  description:
    'discountPercent and discountAmount come off each charge; minimum, maximum and commitment hold for ' +
    'what a whole period comes to.',
});

export const AdjustmentCreate = writeBody(
  {
    accountId: optional(RecordId('account', 'The account that it holds for.')),
    contractId: optional(RecordId('contract', 'The contract that it holds for.')),
    contractServiceId: optional(
      Uuid('The contract line that it holds for, and those that replace it.'),
    ),
    kind: Kind,
    value: DecimalValue({
      description: 'A percentage up to 100, or an amount in the currency.',
      minimum: '0',
    }),
    currency: optional(
      CurrencyCode(
        'The currency of the charges. An amount without it is in that of the contract, else of the account; a percentage holds in any.',
      ),
    ),
    serviceId: optional(RecordId('service', 'Only for charges of this service.')),
    period: optional(
      Picklist('chargeFrequency', {
        description:
          'The calendar period in UTC of a minimum, maximum or commitment: Monthly where it is left out.',
      }),
    ),
    from: DateText('The first day. The period that holds it counts whole.'),
    to: optional(DateText('The day after the last one; without it there is no end.')),
  },
  {
    description: 'What is agreed beside prices, of an account, a contract or a contract line.',
    requiredAny: ['accountId', 'contractId', 'contractServiceId'],
    ignore: ['createdAt', 'updatedAt'],
  },
);
export type AdjustmentCreate = Static<typeof AdjustmentCreate>;
export const AdjustmentUpdate = updateBody(AdjustmentCreate, ['kind', 'value', 'from']);
export type AdjustmentUpdate = Static<typeof AdjustmentUpdate>;

export const Adjustment = Type.Object(
  {
    id: Uuid('Id of the adjustment.'),
    accountId: nullable(Uuid('The account that it holds for.')),
    contractId: nullable(Uuid('The contract that it holds for.')),
    contractServiceId: nullable(Uuid('The contract line that it holds for.')),
    kind: Kind,
    value: DecimalValue({ description: 'A percentage, or an amount.' }),
    currency: nullable(Type.String({ description: 'The currency; null: any.' })),
    serviceId: nullable(Uuid('Only for charges of this service; null: of any.')),
    period: nullable(Type.String({ description: 'The period; null of discounts.' })),
    from: DateText('The first day.'),
    to: nullable(DateText('The day after the last one; null: without end.')),
    createdAt: Instant('When it was made.'),
    updatedAt: Instant('When it was changed last.'),
  },
  { description: 'A discount, minimum, maximum or commitment.' },
);

const place = { tag: 'Adjustments', family: 'records', isAddition: true } as const;

/** spec/beyond.md R281 to R291. */
export const adjustmentOperations = {
  list: operation({
    id: 'listAdjustments',
    method: 'GET',
    path: '/v1/adjustments',
    ...place,
    summary: 'List adjustments, the earliest first',
    query: Type.Object({
      ...offsetQuery,
      accountId: Type.Optional(RecordId('account', 'Those of this account itself.')),
      contractId: Type.Optional(RecordId('contract', 'Those of this contract itself.')),
      contractServiceId: Type.Optional(Uuid('Those of this contract line.')),
      serviceId: Type.Optional(RecordId('service', 'Those that hold for this service only.')),
      kind: Type.Optional(Kind),
    }),
    details: 'Discounts, minimums, maximums and commitments, by their first day.',
    success: reply.offsetPage(Adjustment),
    errors: [400],
  }),
  get: operation({
    id: 'getAdjustment',
    method: 'GET',
    path: '/v1/adjustments/{adjustmentId}',
    ...place,
    summary: 'Read an adjustment',
    details: 'With what it holds for, and when.',
    success: reply.dto(Adjustment),
    errors: [404],
  }),
  create: operation({
    id: 'createAdjustment',
    method: 'POST',
    path: '/v1/adjustments',
    ...place,
    summary: 'Agree on a discount, a minimum, a maximum or a commitment',
    body: AdjustmentCreate,
    example: examples.adjustment,
    description:
      'Exactly one of accountId, contractId and contractServiceId says what it holds for. Discounts ' +
      'come off each charge: percents multiply, then amounts. Then, for each period, a maximum takes ' +
      'off what is above it, a minimum is topped up to, and what of a commitment was not spent is ' +
      'billed at its end.',
    details: 'What was rated before stays as it is: rerate-usage rates it again.',
    success: reply.created(Adjustment),
    errors: [400, 409],
  }),
  update: operation({
    id: 'updateAdjustment',
    method: 'PUT',
    path: '/v1/adjustments/{adjustmentId}',
    ...place,
    summary: 'Change an adjustment',
    body: AdjustmentUpdate,
    example: examples.adjustmentUpdate,
    details: 'What is left out stays. What it holds for and its kind stay: another is another one.',
    success: reply.dto(Adjustment),
    errors: [400, 404, 409],
  }),
  delete: operation({
    id: 'deleteAdjustment',
    method: 'DELETE',
    path: '/v1/adjustments/{adjustmentId}',
    ...place,
    summary: 'Delete an adjustment',
    details: 'It adjusts nothing from now on; what was rated or billed stays.',
    success: reply.empty(),
    errors: [404],
  }),
};
