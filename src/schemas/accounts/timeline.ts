import { Type } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { Instant, nullable, Uuid } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { offsetQuery, timeRangeQuery } from '../http/paging.js';

/** What a timeline tells of. */
export const timelineKinds = [
  'flow',
  'invoice',
  'payment',
  'correction',
  'grant',
  'alert',
  'change',
] as const;
export type TimelineKind = (typeof timelineKinds)[number];

const Kind = Type.Unsafe<TimelineKind>({
  type: 'string',
  enum: [...timelineKinds],
  description:
    'flow: a workflow about the account; invoice, payment, correction of usage, grant to a wallet, alert that was triggered; change: of the account, an address, a contract or a wallet.',
});

export const TimelineEntry = Type.Object(
  {
    at: Instant('When it happened; of a flow, when it started.'),
    kind: Kind,
    event: Type.String({
      description:
        'E.g. invoice.posted, invoice.paid, payment.created, account.updated, flow.failed, alert.triggered.',
    }),
    recordType: Type.String({
      description:
        'account, address, contract, invoice, payment, wallet, correction, grant, alert or execution.',
    }),
    recordId: nullable(Uuid('Id of the record or the execution.')),
    name: nullable(
      Type.String({
        description:
          'What people call it: the number, the reference, the name of the workflow; of a correction its reason.',
      }),
    ),
    workflowId: nullable(Uuid('Of an execution: id of its workflow.')),
    amount: nullable(
      DecimalValue({
        description:
          'Of an invoice its total, or what it was credited by, of a payment or grant its amount, of an alert the figure that passed its threshold.',
      }),
    ),
    currency: nullable(Type.String({ description: 'ISO code of the amount.' })),
    changed: Type.Array(Type.String(), {
      description: 'Names of the fields that a change has changed.',
    }),
    actor: nullable(Type.String({ description: 'Who: subject of the token, or access key.' })),
    requestId: nullable(
      Type.String({ description: 'The request or flow that did it: the same as in the audit.' }),
    ),
  },
  { description: 'Something that happened to an account.' },
);

export const timelineOperations = {
  list: operation({
    id: 'listAccountTimeline',
    isAddition: true,
    weight: 'heavy',
    method: 'GET',
    path: '/v1/accounts/{accountId}/timeline',
    tag: 'Accounts',
    family: 'records',
    summary: 'List what happened to an account, newest first',
    description:
      'Flows about it, invoices, payments, corrections of its usage, grants, alerts, and changes of the account, its ' +
      'addresses, contracts and wallets.',
    details:
      'Changes and flows are read from the audit and the executions: what retention has removed there is not in it. ' +
      'total counts at most 10,000 entries behind the page.',
    query: Type.Object({
      ...offsetQuery,
      kind: Type.Optional(Kind),
      ...timeRangeQuery('What happened'),
    }),
    success: reply.offsetPage(TimelineEntry),
    errors: [400, 404],
  }),
};
