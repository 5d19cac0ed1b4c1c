import { Type, type TUnsafe } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import type { Decimal } from '../../kernel/numbers/money.js';
import { PicklistReference } from '../../kernel/picklist-field.js';
import { ContractService, ContractServiceHeader } from './contract-service.js';
import { examples } from '../openapi/examples.js';
import {
  DateText,
  FreeObject,
  nullable,
  optional,
  updateBody,
  writeBody,
} from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { RecordId } from '../http/record-id.js';

/** Shares by account: relative weights, which need not add up (docs/decisions/0081). */
const AccountShares = (description: string): TUnsafe<Record<string, Decimal>> =>
  Type.Unsafe<Record<string, Decimal>>({
    description,
    type: 'object',
    maxProperties: 1000,
    propertyNames: { format: 'uuid' },
    additionalProperties: DecimalValue({ description: 'Its share.', exclusiveMinimum: '0' }),
  });

export const AttachmentCreate = writeBody(
  {
    parentId: RecordId('contract', 'Contract that the service is attached to.'),
    serviceId: RecordId('service', 'Service that is sold.'),
    startDate: DateText('First day, inclusive.'),
    endDate: DateText('Last day, inclusive.'),
    billAccountShares: optional(
      AccountShares('Accounts that bear the charges, by id, each with its share.'),
    ),
    dimensionValues: optional(FreeObject('Values of dimensions of the service, by name.')),
    chargeFrequency: optional(
      PicklistReference('chargeFrequency', { description: "In place of the service's." }),
    ),
    billingFrequency: optional(
      PicklistReference('billingFrequency', { description: "In place of the service's." }),
    ),
    subscriptionChargeType: optional(
      PicklistReference('subscriptionChargeType', { description: "In place of the service's." }),
    ),
  },
  {
    description: 'A service to attach to a contract.',
    ignore: [
      'serviceInstanceId',
      'terminationDate',
      'terminationMessage',
      'exceptionPricing',
      'priceableAttributes',
      'rateCards',
    ],
  },
);
export const AttachmentUpdate = updateBody(AttachmentCreate);

const { contractId: parentId, ...headerFields } = ContractServiceHeader.properties;
const HeaderFields = {
  ...headerFields,
  parentId,
  subscriptionChargeType: nullable(
    Type.String({ description: 'When its subscription charges fall due.' }),
  ),
  billAccountShares: nullable(FreeObject('Accounts that bear the charges, with their shares.')),
  dimensionValues: ContractService.properties.dimensionValues,
};

/** An attached service without its collections: what lists show. */
export const AttachmentHeader = Type.Object(HeaderFields, {
  description: 'A service of a contract without its collections.',
});

/** The contract service of the resource API under the names of family B. */
export const Attachment = Type.Object(
  {
    ...HeaderFields,
    priceableAttributes: ContractService.properties.priceableAttributes,
    rateCards: ContractService.properties.rateCards,
  },
  { description: 'A service of a contract.' },
);

const tag = 'Contract services';
const item = '/api/q2c-entity-services/CONTRACT/{contractServiceId}';

export const contractAttachmentOperations = {
  attach: operation({
    id: 'attachService',
    method: 'POST',
    path: '/api/q2c-entity-services/CONTRACT',
    tag,
    summary: 'Attach a service to a contract with its dimensions and list prices',
    description:
      "The current list prices in the contract's currency become exception prices of the line.",
    body: AttachmentCreate,
    example: examples.attachment,
    success: reply.enveloped(Attachment, 201),
    errors: [400, 409],
  }),
  update: operation({
    id: 'updateAttachedService',
    method: 'PUT',
    path: item,
    tag,
    summary: 'Change a service of a contract',
    body: AttachmentUpdate,
    example: examples.attachmentUpdate,
    access: 'operator',
    details: 'What is left out stays; dimensionValues, when present, replace all of them.',
    success: reply.enveloped(Attachment),
    errors: [404, 409],
  }),
  detach: operation({
    id: 'detachService',
    method: 'DELETE',
    path: item,
    tag,
    summary: 'Delete a service of a contract with its dimensions and prices',
    access: 'operator',
    details: 'What was rated under it stays. To stop one, end it.',
    success: reply.empty(),
    errors: [404],
  }),
  list: operation({
    id: 'listAttachedServices',
    method: 'GET',
    path: '/api/q2c-entity-services/CONTRACT/parent/{contractId}',
    tag,
    summary: 'List the services of a contract',
    details: 'Each is a line of the contract, as of /contracts/{contractId}/services.',
    success: reply.envelopedList(AttachmentHeader),
    errors: [404],
  }),
};
