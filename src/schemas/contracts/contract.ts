import { Type } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { ContractLineWrite, ContractServiceSummary } from './contract-service.js';
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

export const ContractCreate = writeBody(
  {
    name: optional(Text('Name of the contract.')),
    number: optional(Text('Contract number, unique; left out, one is made: C-<milliseconds>.')),
    masterAccountId: optional(
      RecordId('account', 'Account that is billed; this or accountExtId is required.'),
    ),
    accountExtId: optional(Text('External id of the account that is billed.')),
    startDate: optional(DateText('First day, inclusive.')),
    endDate: optional(DateText('Last day, inclusive.')),
    currency: optional(CurrencyCode('Currency code or name that its usage is rated in.')),
    totalPrice: optional(DecimalValue({ description: 'Agreed total. Kept, without effect.' })),
    poNumber: optional(Text("Number of the customer's purchase order.")),
    services: optional(
      Type.Array(ContractLineWrite, { maxItems: 1000, description: 'Its lines.' }),
    ),
    description: optional(FreeText('What there is to say of it.')),
  },
  {
    description: 'A contract.',
    requiredAny: ['masterAccountId', 'accountExtId'],
    ignore: ['warnings'],
  },
);
export const ContractUpdate = updateBody(ContractCreate);

const ContractHeader = {
  id: Uuid('Id of the contract.'),
  name: nullable(Type.String({ description: 'Name of the contract.' })),
  number: Type.String({ description: 'Contract number.' }),
  approvalStatus: Type.String({ description: 'Draft, Pending Approval, Approved or Rejected.' }),
  masterAccountId: Uuid('Account that is billed.'),
  startDate: nullable(DateText('First day, inclusive.')),
  endDate: nullable(DateText('Last day, inclusive.')),
  currency: nullable(Type.String({ description: 'ISO code of its currency.' })),
  totalPrice: nullable(DecimalValue({ description: 'Agreed total.' })),
  poNumber: nullable(Type.String({ description: "Number of the customer's purchase order." })),
  description: nullable(Type.String({ description: 'What there is to say of it.' })),
};

/** The contract without its lines: what a row of a list shows. */
export const ContractSummary = Type.Object(ContractHeader, {
  description: 'A contract without its lines.',
});

export const Contract = Type.Object(
  {
    ...ContractHeader,
    services: Type.Array(ContractServiceSummary, { description: 'Its lines.' }),
    warnings: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'In the answer to a write: what will go wrong with its prices or dates, if anything.',
      }),
    ),
  },
  { description: 'A contract.' },
);

const lookups = { currency: 'currency', approvalStatus: 'approvalStatus' } as const;
const contractRow = rowSpec('Contract', ContractSummary, lookups);
const contractDetailRow = rowSpec('Contract', Contract, lookups);

const tag = 'Contracts';
const item = external('/contracts/{contractId}');

export const contractOperations = {
  list: operation({
    id: 'listContracts',
    method: 'GET',
    path: external('/contracts'),
    tag,
    summary: 'List contracts',
    query: Type.Object({
      ...pageQuery,
      ...searchQuery('the name or number'),
      accountId: Type.Optional(RecordId('account', 'The account that is billed.')),
    }),
    details: 'By number, a page of rows; accountId shows those of one account.',
    success: reply.rowPage(contractRow),
    errors: [400],
  }),
  get: operation({
    id: 'getContract',
    method: 'GET',
    path: item,
    tag,
    summary: 'Read a contract with its lines in short',
    query: Type.Object(viewQuery),
    details: 'Its lines are shown in short: read one by its id for attributes and prices.',
    success: reply.dto(Contract, contractDetailRow),
    errors: [400, 404],
  }),
  create: operation({
    id: 'createContract',
    method: 'POST',
    path: external('/contracts'),
    tag,
    summary: 'Create a contract with its lines',
    body: ContractCreate,
    example: examples.contract,
    access: 'operator',
    adminFields: ['services.rateCards', 'services.priceableAttributes'],
    details:
      'Each line sells one service, from its start to its end, perhaps at prices of its own.',
    success: reply.created(Contract),
    errors: [400, 409],
  }),
  update: operation({
    id: 'updateContract',
    method: 'PUT',
    path: item,
    tag,
    summary: 'Change a contract; services, when present, replace all its lines',
    body: ContractUpdate,
    example: examples.contractUpdate,
    access: 'operator',
    adminFields: ['services.rateCards', 'services.priceableAttributes'],
    details:
      'A contract may be read, edited and sent back: a line with its id is the same line, nothing is charged twice, and tiers go on where they were.',
    success: reply.dto(Contract),
    errors: [400, 404, 409],
  }),
  delete: operation({
    id: 'deleteContract',
    method: 'DELETE',
    path: item,
    tag,
    summary: 'Delete a contract that has no lines',
    access: 'operator',
    details: '409 while it has lines.',
    success: reply.empty(),
    errors: [404, 409],
  }),
};
