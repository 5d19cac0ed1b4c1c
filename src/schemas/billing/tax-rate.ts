import { Type } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { examples } from '../openapi/examples.js';
import { nullable, optional, Text, updateBody, Uuid, writeBody } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { offsetQuery } from '../http/paging.js';

export const TaxRate = Type.Object(
  {
    id: Uuid('Id of the tax rate.'),
    code: Type.String({ description: 'The taxCode of rate-card rows that it is for.' }),
    name: nullable(Type.String({ description: 'What people call it.' })),
    rate: DecimalValue({ description: 'Percent of the amount.' }),
  },
  { description: 'How charges of a tax code are taxed.' },
);

export const TaxRateCreate = writeBody(
  {
    code: Text('The taxCode of rate-card rows that it is for, unique.'),
    rate: DecimalValue({ description: 'Percent of the amount, at most 1000.', minimum: '0' }),
    name: optional(Text('What people call it.')),
  },
  { description: 'A tax rate.' },
);
export const TaxRateUpdate = updateBody(TaxRateCreate);

const place = { tag: 'Tax rates', family: 'records', isAddition: true } as const;

/** The table of tax rates of a tenant, empty at first (docs/decisions/0104). */
export const taxRateOperations = {
  list: operation({
    id: 'listTaxRates',
    method: 'GET',
    path: '/v1/tax-rates',
    ...place,
    summary: 'List the tax rates, by code',
    query: Type.Object(offsetQuery),
    details: 'Rows of rate cards name a code; a code without a rate is not taxed.',
    success: reply.offsetPage(TaxRate),
    errors: [400],
  }),
  create: operation({
    id: 'createTaxRate',
    method: 'POST',
    path: '/v1/tax-rates',
    ...place,
    summary: 'Set how charges of a tax code are taxed',
    body: TaxRateCreate,
    example: examples.taxRate,
    details: 'In percent, for each item whose row names the code, from the next billing run on.',
    success: reply.created(TaxRate),
    errors: [400, 409],
  }),
  update: operation({
    id: 'updateTaxRate',
    method: 'PUT',
    path: '/v1/tax-rates/{taxRateId}',
    ...place,
    summary: 'Change a tax rate: invoices that are posted keep theirs',
    body: TaxRateUpdate,
    example: examples.taxRateUpdate,
    details: 'It holds from the next billing run on.',
    success: reply.dto(TaxRate),
    errors: [400, 404, 409],
  }),
  delete: operation({
    id: 'deleteTaxRate',
    method: 'DELETE',
    path: '/v1/tax-rates/{taxRateId}',
    ...place,
    summary: 'Delete a tax rate',
    details: 'Charges of its code are not taxed from the next billing run on.',
    success: reply.empty(),
    errors: [404],
  }),
};
