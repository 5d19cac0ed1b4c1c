import { Type } from 'typebox';
import { retentionKinds } from '../../kernel/retention.js';
import { Instant, nullable } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';

const setters = ['tenant', 'installation', 'product'] as const;

const RetentionRule = Type.Object(
  {
    kind: Type.Unsafe<(typeof retentionKinds)[number]>({
      type: 'string',
      enum: [...retentionKinds],
      description:
        'messages of rated usage; webhooks: deliveries that ended, with their events; executions ' +
        'that ended; idempotencyKeys with their answers; audit.',
    }),
    days: nullable(
      Type.Integer({ minimum: 1, description: 'How many days it is kept; null: for ever.' }),
    ),
    setBy: Type.Unsafe<(typeof setters)[number]>({
      type: 'string',
      enum: [...setters],
      description:
        'Whose rule it is: of this tenant, else of the installation, else of the product.',
    }),
    removed: Type.Integer({
      minimum: 0,
      description: 'How many of them were removed so far.',
    }),
    removedBefore: nullable(
      Instant('What is older was removed, unless it is needed still; null: nothing was.'),
    ),
  },
  { description: 'How long one kind of data is kept.' },
);

export const Retention = Type.Object(
  {
    rules: Type.Array(RetentionRule, { description: 'One for each kind.' }),
    legalHoldSince: nullable(
      Instant('Since when nothing is removed, whatever the rules say; null: there is no hold.'),
    ),
  },
  { description: 'How long data are kept, and what was removed.' },
);

export const retentionOperations = {
  get: operation({
    id: 'getRetention',
    isAddition: true,
    method: 'GET',
    path: '/v1/retention',
    tag: 'Retention',
    family: 'records',
    summary: 'Read how long data are kept',
    description:
      'An operator sets it (durabill tenant retention). Charges, invoices, payments and totals have no ' +
      'age: they stay. An Idempotency-Key has its effect once for as long as keys are kept.',
    success: reply.dto(Retention),
    errors: [],
  }),
};
