import { Type } from 'typebox';
import { Picklist } from '../../kernel/picklist-field.js';
import { LineAttribute, LineAttributeWrite } from '../catalog/attribute.js';
import { examples } from '../openapi/examples.js';
import {
  DateText,
  FreeObject,
  FreeText,
  nullable,
  optional,
  Text,
  updateBody,
  Uuid,
  writeBody,
} from '../fields/field.js';
import { external, operation, reply } from '../http/operation.js';
import { pageQuery, viewQuery } from '../http/paging.js';
import { RateCard, RateCardWrite } from '../catalog/rate-card.js';
import { rowSpec } from '../http/row.js';
import { RecordId } from '../http/record-id.js';

const terminationMessage = () => optional(FreeText('Why the line was ended.'));

const LineFields = {
  contractId: optional(
    RecordId('contract', 'Contract of the line; may be left out, and must be that of the address.'),
  ),
  serviceInstanceId: optional(Text('Your name of what is sold; usage events name it.')),
  startDate: optional(DateText("First day, inclusive; without it the contract's.")),
  endDate: optional(DateText('Last day, inclusive.')),
  terminationDate: optional(DateText('Last day of a line that was ended, inclusive.')),
  terminationMessage: terminationMessage(),
  chargeFrequency: optional(Picklist('chargeFrequency', { description: 'How often it charges.' })),
  billingFrequency: optional(
    Picklist('billingFrequency', { description: 'How often it is invoiced.' }),
  ),
  dimensionValues: optional(
    FreeObject(
      'Values of dimensions by name: those of its attributes are their `dimensionValText`, such as ' +
        'the number of seats; others are kept as they are sent.',
    ),
  ),
  accountMap: optional(
    FreeObject(
      'Who bears the charges: weights above 0 by account, by its id, externalId or number, e.g. 60 ' +
        'and 40. An object of which no name is an account is kept as it is, without effect.',
    ),
  ),
  priceableAttributes: optional(
    Type.Array(LineAttributeWrite, {
      maxItems: 1000,
      description: "Its attributes; left out, the service's are copied.",
    }),
  ),
  rateCards: optional(
    Type.Array(RateCardWrite, {
      maxItems: 200,
      description: 'Its exception prices; without them the list price holds.',
    }),
  ),
};

const ignore = ['exceptionPricing', 'warnings'];

/** A line inside a contract; `templateId` is another name of `serviceId`. */
export const ContractLineWrite = writeBody(
  {
    id: Type.Optional(
      Type.Unsafe<unknown>({
        canonicalUuid: true,
        description: 'The line of this contract that is sent back, changed or not; else ignored.',
      }),
    ),
    serviceId: optional(
      RecordId('service', 'Service that is sold; this or templateId is required.'),
    ),
    templateId: optional(RecordId('service', 'Another name of serviceId.')),
    ...LineFields,
  },
  { description: 'A line of a contract.', ignore },
);

export const ContractServiceCreate = writeBody(
  { serviceId: RecordId('service', 'Service that is sold.'), ...LineFields },
  { description: 'A line to add to a contract.', ignore },
);
export const ContractServiceUpdate = updateBody(ContractServiceCreate);

export const ContractServiceEnd = writeBody(
  {
    terminationDate: DateText('Last day of the line, inclusive; not before its first.'),
    terminationMessage: terminationMessage(),
  },
  { description: 'The end of a line.' },
);

const SummaryFields = {
  id: Uuid('Id of the line.'),
  serviceId: Uuid('Service that is sold.'),
  serviceInstanceId: nullable(Type.String({ description: 'Your name of what is sold.' })),
  startDate: nullable(DateText('First day, inclusive.')),
  endDate: nullable(DateText('Last day, inclusive.')),
  terminationDate: nullable(DateText('Last day of a line that was ended, inclusive.')),
  exceptionPricing: Type.Boolean({ description: 'Whether it has prices of its own.' }),
};

/** A line as the detail of its contract shows it. */
export const ContractServiceSummary = Type.Object(SummaryFields, {
  description: 'A line of a contract, in short.',
});

const HeaderFields = {
  ...SummaryFields,
  contractId: Uuid('Contract of the line.'),
  terminationMessage: nullable(Type.String({ description: 'Why the line was ended.' })),
  chargeFrequency: nullable(Type.String({ description: 'How often it charges.' })),
  billingFrequency: nullable(Type.String({ description: 'How often it is invoiced.' })),
};

/** A line without its collections: what lists show. */
export const ContractServiceHeader = Type.Object(HeaderFields, {
  description: 'A line of a contract without its collections.',
});

export const ContractService = Type.Object(
  {
    ...HeaderFields,
    dimensionValues: nullable(FreeObject('Values of dimensions by name.')),
    accountMap: nullable(FreeObject('Shares of accounts.')),
    priceableAttributes: Type.Array(LineAttribute, { description: 'Its priceable attributes.' }),
    rateCards: Type.Array(RateCard, {
      description: 'Its current exception cards, one for each currency.',
    }),
    warnings: Type.Optional(
      Type.Array(Type.String(), {
        description: 'In the answer to a write: what will go wrong with its dates, if anything.',
      }),
    ),
  },
  { description: 'A line of a contract.' },
);

const lookups = {
  chargeFrequency: 'chargeFrequency',
  billingFrequency: 'billingFrequency',
} as const;
const contractServiceRow = rowSpec('ContractService', ContractServiceHeader, lookups);
const contractServiceDetailRow = rowSpec('ContractService', ContractService, lookups);

const tag = 'Contract services';
const collection = external('/contracts/{contractId}/services');
const item = external('/contracts/{contractId}/services/{contractServiceId}');
const alone = external('/contract-services/{contractServiceId}');

const endOperations = {
  endAlone: operation({
    id: 'endContractServiceById',
    method: 'PUT',
    path: external('/contract-services/{contractServiceId}/end'),
    tag,
    summary: 'End a line, known by its id alone',
    body: ContractServiceEnd,
    example: examples.contractServiceEnd,
    access: 'operator',
    details: 'A line that was ended gets the new date and message.',
    success: reply.row(contractServiceRow),
    errors: [400, 404],
  }),
  endByInstance: operation({
    id: 'endContractServiceByInstance',
    method: 'PUT',
    path: external('/contracts/services/by-instance/{serviceInstanceId}/end'),
    textParams: ['serviceInstanceId'],
    tag,
    summary: 'End the line of an instance',
    description: '409 when several lines that were not ended have this instance id.',
    body: ContractServiceEnd,
    example: examples.contractServiceEnd,
    access: 'operator',
    success: reply.row(contractServiceRow),
    errors: [400, 404, 409],
  }),
  end: operation({
    id: 'endContractService',
    method: 'PUT',
    path: external('/contracts/{contractId}/services/{contractServiceId}/end'),
    tag,
    summary: 'End a line',
    body: ContractServiceEnd,
    example: examples.contractServiceEnd,
    access: 'operator',
    details: 'The date is its last day. A line that was ended gets the new date and message.',
    success: reply.row(contractServiceRow),
    errors: [400, 404],
  }),
};

export const contractServiceOperations = {
  list: operation({
    id: 'listContractServices',
    method: 'GET',
    path: collection,
    tag,
    summary: 'List the lines of a contract',
    query: Type.Object({ ...pageQuery, ...viewQuery }),
    details: 'Without attributes and prices.',
    success: reply.page(ContractServiceHeader, contractServiceRow),
    errors: [400, 404],
  }),
  get: operation({
    id: 'getContractService',
    method: 'GET',
    path: item,
    tag,
    summary: 'Read a line with its attributes and exception prices',
    query: Type.Object(viewQuery),
    details:
      'With what it was sold with: values of dimensions, shares of accounts, exception cards.',
    success: reply.dto(ContractService, contractServiceDetailRow),
    errors: [400, 404],
  }),
  getAlone: operation({
    id: 'getContractServiceById',
    method: 'GET',
    path: alone,
    tag,
    summary: 'Read a line, known by its id alone',
    query: Type.Object(viewQuery),
    details: 'For whoever does not know the contract.',
    success: reply.dto(ContractService, contractServiceDetailRow),
    errors: [400, 404],
  }),
  create: operation({
    id: 'createContractService',
    method: 'POST',
    path: collection,
    tag,
    summary: 'Add a line to a contract',
    body: ContractServiceCreate,
    example: examples.contractService,
    access: 'operator',
    adminFields: ['rateCards', 'priceableAttributes'],
    details: 'No prices are copied: without cards of its own the list price holds.',
    success: reply.created(ContractService),
    errors: [400, 404, 409],
  }),
  update: operation({
    id: 'updateContractService',
    method: 'PUT',
    path: item,
    tag,
    summary: 'Change a line; a collection, when present, replaces the one it has',
    body: ContractServiceUpdate,
    example: examples.contractServiceUpdate,
    access: 'operator',
    adminFields: ['rateCards', 'priceableAttributes'],
    details: 'The service of a line cannot change: end it, and add another.',
    success: reply.dto(ContractService),
    errors: [400, 404, 409],
  }),
  updateAlone: operation({
    id: 'updateContractServiceById',
    method: 'PUT',
    path: alone,
    tag,
    summary: 'Change a line, known by its id alone',
    body: ContractServiceUpdate,
    example: examples.contractServiceUpdate,
    access: 'operator',
    adminFields: ['rateCards', 'priceableAttributes'],
    details: 'For whoever does not know the contract; the service of a line cannot change.',
    success: reply.dto(ContractService),
    errors: [400, 404, 409],
  }),
  delete: operation({
    id: 'deleteContractService',
    method: 'DELETE',
    path: item,
    tag,
    summary: 'Delete a line that should never have been; to stop one, end it',
    access: 'operator',
    details: 'What was rated under it stays.',
    success: reply.empty(),
    errors: [404],
  }),
  ...endOperations,
};
