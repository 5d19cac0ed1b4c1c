import { Type, type Static } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { Instant, nullable, optional, Text, updateBody, Uuid, writeBody } from '../fields/field.js';
import { examples } from '../openapi/examples.js';
import { operation, reply } from '../http/operation.js';
import { offsetQuery } from '../http/paging.js';
import { RecordId } from '../http/record-id.js';

export const measures = ['spend', 'quantity', 'balance'] as const;

const Measure = Type.Unsafe<(typeof measures)[number]>({
  type: 'string',
  enum: [...measures],
  description:
    'spend (the sum of charges, before credits), quantity (the volume of an attribute) or balance (of a wallet).',
});

export const AlertCreate = writeBody(
  {
    name: Text('What it is called, unique.'),
    accountId: optional(RecordId('account', 'Only of this account.')),
    contractId: optional(
      RecordId(
        'contract',
        'Only of this contract: one of the account, or that it shares, where both are given.',
      ),
    ),
    walletId: optional(RecordId('wallet', 'The wallet whose balance it is.')),
    serviceId: optional(RecordId('service', 'Only of this service.')),
    attribute: optional(Text('The attribute of the service whose volume it is, by its name.')),
    measure: Measure,
    period: Text(
      'The calendar period in UTC in which each threshold triggers once: Daily, Weekly, Fortnightly, Monthly, Quarterly, Half Yearly, Yearly or Lifetime.',
    ),
    thresholds: Type.Array(DecimalValue({ description: 'A threshold.', minimum: '0' }), {
      minItems: 1,
      maxItems: 20,
      description: 'spend and quantity trigger at or above one, balance below.',
    }),
    workflowId: optional(
      Text('A workflow of your own, by id or name, that is executed with what the event says.'),
    ),
  },
  { description: 'What to be told of.', ignore: ['counted', 'createdAt', 'updatedAt'] },
);
export type AlertCreate = Static<typeof AlertCreate>;
export const AlertUpdate = updateBody(AlertCreate, ['name', 'measure', 'period', 'thresholds']);
export type AlertUpdate = Static<typeof AlertUpdate>;

const Counted = Type.Object(
  {
    currency: nullable(Type.String({ description: 'ISO code; null of volumes and balances.' })),
    value: DecimalValue({ description: 'What the thresholds are compared with.' }),
  },
  { description: 'Where an alert stands.' },
);

export const Alert = Type.Object(
  {
    id: Uuid('Id of the alert.'),
    name: Type.String({ description: 'What it is called.' }),
    accountId: nullable(Uuid('Only of this account.')),
    contractId: nullable(Uuid('Only of this contract.')),
    walletId: nullable(Uuid('The wallet whose balance it is.')),
    serviceId: nullable(Uuid('Only of this service.')),
    attribute: nullable(Type.String({ description: 'The attribute whose volume it is.' })),
    measure: Measure,
    period: Type.String({ description: 'The period in which each threshold triggers once.' }),
    thresholds: Type.Array(DecimalValue({ description: 'A threshold.' }), {
      description: 'In rising order.',
    }),
    workflowId: nullable(Uuid('The workflow of your own that it executes.')),
    counted: Type.Optional(
      nullable(
        Type.Array(Counted, {
          description:
            'Of a list by accountId: what it has counted of the account, or of its scope, in the ' +
            'running period, by currency. Null: nothing has moved it in this period, and nothing was counted.',
        }),
      ),
    ),
    createdAt: Instant('When it was made.'),
    updatedAt: Instant('When it was changed last.'),
  },
  { description: 'What a tenant is told of.' },
);

const place = { tag: 'Alerts', family: 'records', isAddition: true } as const;

/** spec/beyond.md R275 to R279. */
export const alertOperations = {
  list: operation({
    id: 'listAlerts',
    method: 'GET',
    path: '/v1/alerts',
    ...place,
    summary: 'List alerts by name',
    query: Type.Object({
      ...offsetQuery,
      accountId: Type.Optional(
        RecordId(
          'account',
          'Those that this account can trigger: its own, of its contracts and of those that it shares, of its wallets, and those of each account.',
        ),
      ),
    }),
    details: 'What tenants are told of when money or volumes pass a threshold.',
    success: reply.offsetPage(Alert),
    errors: [400],
  }),
  get: operation({
    id: 'getAlert',
    method: 'GET',
    path: '/v1/alerts/{alertId}',
    ...place,
    summary: 'Read an alert',
    details: 'With its scope and its thresholds.',
    success: reply.dto(Alert),
    errors: [404],
  }),
  create: operation({
    id: 'createAlert',
    method: 'POST',
    path: '/v1/alerts',
    ...place,
    summary: 'Be told when spending, a volume or a balance passes a threshold',
    body: AlertCreate,
    example: examples.alert,
    access: 'operator',
    description:
      'The webhook event alert.triggered comes once for each threshold and period. Without accountId, contractId and walletId each account counts by itself.',
    details:
      'A threshold that is past when the alert is made is silent in that period. A balance triggers again when it has risen in between.',
    success: reply.created(Alert),
    errors: [400, 409],
  }),
  update: operation({
    id: 'updateAlert',
    method: 'PUT',
    path: '/v1/alerts/{alertId}',
    ...place,
    summary: 'Change an alert',
    body: AlertUpdate,
    example: examples.alertUpdate,
    access: 'operator',
    details:
      'What is left out stays. Thresholds that are past then are silent in the running period, as of a new alert.',
    success: reply.dto(Alert),
    errors: [400, 404, 409],
  }),
  delete: operation({
    id: 'deleteAlert',
    method: 'DELETE',
    path: '/v1/alerts/{alertId}',
    ...place,
    summary: 'Delete an alert',
    access: 'operator',
    details: 'It triggers no more; its name is free again.',
    success: reply.empty(),
    errors: [404],
  }),
};
