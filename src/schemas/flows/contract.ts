import { Type } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { exampleIds } from '../openapi/examples.js';
import { DateText, FreeText, optional, Text } from '../fields/field.js';
import { flow, named, Reference, startNode } from './flow.js';
import { RecordId } from '../http/record-id.js';

const fields = {
  number: optional(Text('Contract number, unique; left out, one is made.')),
  start_date: named('startDate', optional(DateText('First day, inclusive.'))),
  end_date: named('endDate', optional(DateText('Last day, inclusive.'))),
  currency_id: named('currency', optional(Reference('currency', 'Currency: id, code or name.'))),
  total_price: named('totalPrice', optional(DecimalValue({ description: 'Agreed total.' }))),
  description: optional(FreeText('What there is to say of it.')),
};
const masterAccount = named(
  'masterAccountId',
  Reference('account', 'Account that is billed: id, external id or number.'),
);

export const contractFlows = {
  createContract: flow({
    slug: 'billing/contract/create',
    name: 'Contract Save Flow',
    description: 'Makes a contract without lines.',
    entity: 'contract',
    keyField: 'number',
    start: startNode({
      name: Text('Name of the contract.'),
      master_account_id: masterAccount,
      ...fields,
    }),
    example: {
      name: 'Acme 2027',
      number: 'C-2027-001',
      master_account_id: exampleIds.account,
      start_date: '2027-01-01',
      end_date: '2027-12-31',
      currency_id: 'USD',
      total_price: 12000.5,
    },
  }),
  editContract: flow({
    slug: 'billing/contract/edit',
    name: 'Contract Edit Flow',
    description: 'Changes what is given of a contract; one in draft is completed.',
    entity: 'contract',
    keyField: 'id',
    start: startNode({
      id: RecordId('contract', 'The contract.'),
      name: Type.Optional(Text('Name of the contract.')),
      master_account_id: Type.Optional(masterAccount),
      ...fields,
      number: Type.Optional(Text('Contract number, unique.')),
    }),
    example: { id: exampleIds.contract, total_price: 13000, description: 'Negotiated' },
  }),
  deleteContract: flow({
    slug: 'billing/contract/delete',
    name: 'Contract Delete Flow',
    description: 'Deletes a contract without lines.',
    entity: 'contract',
    keyField: 'id',
    start: startNode({ id: RecordId('contract', 'The contract.') }),
    example: { id: exampleIds.contract },
  }),
  approveContract: flow({
    slug: 'billing/contract/approve',
    name: 'Contract Approval',
    description: 'Approves a contract; the execution and the audit say who did.',
    entity: 'contract',
    keyField: 'ID_Contract',
    start: startNode({ ID_Contract: named('id', RecordId('contract', 'The contract.')) }),
    example: { ID_Contract: exampleIds.contract },
  }),
};
