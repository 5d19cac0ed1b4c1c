import { Type } from 'typebox';
import { securityActions, securityEntities } from '../../kernel/security-event.js';
import { Instant, nullable, Text, Uuid } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { offsetQuery, timeRangeQuery } from '../http/paging.js';

/**
 * The records whose changes are kept, by the names of their tables in camelCase: those that a
 * migration has given to `audit_table`. test/api/access/audit.test.ts compares the two.
 */
export const auditedEntities = [
  'account',
  'address',
  'service',
  'attribute',
  'pricingLogic',
  'rateCard',
  'rateCardRow',
  'contract',
  'contractService',
  'payment',
  'wallet',
  'walletGrant',
  'walletHold',
  'alert',
  'adjustment',
  'workflowDefinition',
  'workflowVersion',
  'approval',
  'approvalDecision',
  'invoice',
  'invoiceItem',
  'serviceLayout',
  'recordType',
  'record',
  'webhook',
  'taxRate',
  'paymentApplication',
  'toolCall',
  'usageCorrection',
  'usageEventChange',
  'repricing',
] as const;

const Entity = Type.Unsafe<string>({
  type: 'string',
  enum: [...auditedEntities, ...securityEntities],
  description: 'What kind of record was changed, or what a security event is about.',
});

const actions = ['create', 'update', 'delete', ...securityActions] as const;

const state = (description: string) =>
  nullable(Type.Unsafe<Record<string, unknown>>({ type: 'object', description }));

export const AuditEntry = Type.Object(
  {
    id: Type.Integer({ description: 'Number of the entry.' }),
    at: Instant('When it was changed, in UTC.'),
    actor: nullable(Type.String({ description: 'Who: subject of the token, or access key.' })),
    requestId: nullable(
      Type.String({ description: 'Our id of the request that changed it, or of its flow.' }),
    ),
    callerRequestId: nullable(
      Type.String({
        description: 'The X-Request-Id that the caller chose; null when it sent none.',
      }),
    ),
    entity: Entity,
    entityId: nullable(Uuid('Id of the record; null where what it is about has no UUID.')),
    entityKey: nullable(
      Type.String({ description: 'What a security event is about, such as the id of a key.' }),
    ),
    action: Type.Unsafe<(typeof actions)[number]>({
      type: 'string',
      enum: actions,
      description: 'create, update or delete of a record; others are of security events.',
    }),
    before: state('The record before the change; null when it was created.'),
    after: state('The record after the change; null when it was removed for good.'),
  },
  { description: 'One change of one record.' },
);

export const auditOperations = {
  list: operation({
    id: 'listAudit',
    weight: 'heavy',
    method: 'GET',
    path: '/v1/audit',
    tag: 'Audit',
    family: 'records',
    summary: 'List who changed what and when, newest first',
    description:
      'An entry is written in the transaction of the change itself. A record that is part of another, ' +
      'such as an address of an account or a row of a rate card, has entries of its own under its own ' +
      'entity and id: those of the whole do not repeat them. Deleted records stay visible here.',
    query: Type.Object({
      ...offsetQuery,
      entity: Type.Optional(Entity),
      id: Type.Optional(Uuid('Changes of the record with this id.')),
      actor: Type.Optional(Text('Changes that this subject or access key made.')),
      ...timeRangeQuery('Changes'),
    }),
    success: reply.offsetPage(AuditEntry),
    errors: [],
  }),
};
