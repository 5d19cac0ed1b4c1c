import { Type } from 'typebox';
import { aggregations, type Aggregation } from '../../rating/index.js';
import { Picklist } from '../../kernel/picklist-field.js';
import { examples } from '../openapi/examples.js';
import {
  FreeText,
  nullable,
  optional,
  Text,
  updateBody,
  Uuid,
  writeBody,
} from '../fields/field.js';
import { external, operation, reply } from '../http/operation.js';
import { pageQuery } from '../http/paging.js';

const valueTypes = ['string', 'number', 'boolean'];

const DimensionValue = Type.Object(
  {
    label: optional(FreeText('What people read.', 255)),
    value: Type.Unsafe<string | number | boolean>({
      type: valueTypes,
      maxLength: 255,
      description: 'The value that an event gives.',
    }),
  },
  { additionalProperties: false, description: 'A value that the attribute offers.' },
);

const aggregationOf = (description: string) =>
  Type.Unsafe<Aggregation>({ type: 'string', enum: [...aggregations], description });

const AttributeFields = {
  name: Text('Name of the attribute; formulas and events use it.'),
  label: optional(Text('What people read.')),
  dimensionDataType: Picklist('dimensionDataType', { description: 'Type of its values.' }),
  isContractInput: optional(
    Type.Boolean({ description: 'Whether the contract gives its value, not the event.' }),
  ),
  isMeterDimension: optional(
    Type.Boolean({ description: 'Whether a counter adds up its usage over a period.' }),
  ),
  isProration: optional(
    Type.Boolean({ description: 'Whether charges for part of a period are prorated by days.' }),
  ),
  meterResetFrequency: optional(
    Picklist('meterResetFrequency', { description: 'How often the counter starts again.' }),
  ),
  aggregation: optional(
    aggregationOf(
      'How the counter of a metered attribute takes up usage: SUM (as without it), MAX or LAST, in the ' +
        'order of the log, or UNIQUE, which counts the different values of a dimension. Of all but SUM, ' +
        'usage costs the price of the counter after it, less that before.',
    ),
  ),
  uniqueDimension: optional(
    Text('Of UNIQUE: the dimension of events whose different values are counted.'),
  ),
  dimValues: optional(
    Type.Array(DimensionValue, { maxItems: 1000, description: 'The values it offers.' }),
  ),
};

/** An attribute of a service in a request; `dimensionValText` belongs to contract lines. */
export const AttributeWrite = writeBody(AttributeFields, {
  description: 'A priceable or an input attribute.',
});
export const AttributeUpdate = updateBody(AttributeWrite, ['aggregation']);

/** An attribute of a contract line in a request. */
export const LineAttributeWrite = writeBody(
  { ...AttributeFields, dimensionValText: optional(FreeText('Its value on the contract.', 255)) },
  { description: 'An attribute of a contract service.' },
);
export const LineAttributeUpdate = updateBody(LineAttributeWrite, ['aggregation']);

const AttributeResponse = {
  id: Uuid('Id of the attribute.'),
  name: Type.String({ description: 'Name of the attribute; formulas and events use it.' }),
  label: nullable(Type.String({ description: 'What people read.' })),
  dimensionDataType: Type.String({ description: 'Number, String, Boolean or Date.' }),
  isContractInput: Type.Boolean({
    description: 'Whether the contract gives its value, not the event.',
  }),
  isMeterDimension: Type.Boolean({
    description: 'Whether a counter adds up its usage over a period.',
  }),
  isProration: nullable(
    Type.Boolean({ description: 'Whether charges for part of a period are prorated by days.' }),
  ),
  meterResetFrequency: nullable(
    Type.String({ description: 'How often the counter starts again.' }),
  ),
  aggregation: aggregationOf('How its counter takes up usage.'),
  uniqueDimension: nullable(
    Type.String({ description: 'The dimension whose different values it counts.' }),
  ),
  dimValues: Type.Array(DimensionValue, { description: 'The values it offers.' }),
};

export const Attribute = Type.Object(AttributeResponse, {
  description: 'A priceable or an input attribute of a service.',
});

export const LineAttribute = Type.Object(
  {
    ...AttributeResponse,
    dimensionValText: nullable(Type.String({ description: 'Its value on the contract.' })),
  },
  { description: 'An attribute of a contract service.' },
);

const tag = 'Services';
const collection = external('/services/{serviceId}/priceable-attributes');
const item = external('/services/{serviceId}/priceable-attributes/{attributeId}');

export const attributeOperations = {
  list: operation({
    id: 'listPriceableAttributes',
    method: 'GET',
    path: collection,
    tag,
    summary: 'List the priceable attributes of a service',
    query: Type.Object(pageQuery),
    details: 'What rows of rate cards can price.',
    success: reply.page(Attribute),
    errors: [400, 404],
  }),
  get: operation({
    id: 'getPriceableAttribute',
    method: 'GET',
    path: item,
    tag,
    summary: 'Read a priceable attribute of a service',
    details: 'With its type, its values, and whether a counter adds it up.',
    success: reply.dto(Attribute),
    errors: [404],
  }),
  create: operation({
    id: 'createPriceableAttribute',
    method: 'POST',
    path: collection,
    tag,
    summary: 'Add a priceable attribute to a service',
    body: AttributeWrite,
    example: examples.attribute,
    details: 'It costs nothing until a row of a rate card prices it.',
    success: reply.created(Attribute),
    errors: [400, 404, 409],
  }),
  update: operation({
    id: 'updatePriceableAttribute',
    method: 'PUT',
    path: item,
    tag,
    summary: 'Change a priceable attribute of a service',
    description: 'The pricing logic may not be left naming an attribute that is gone: 409.',
    body: AttributeUpdate,
    example: examples.attributeUpdate,
    success: reply.dto(Attribute),
    errors: [400, 404, 409],
  }),
  delete: operation({
    id: 'deletePriceableAttribute',
    method: 'DELETE',
    path: item,
    tag,
    summary: 'Delete a priceable attribute of a service',
    description: '409 while a row of a current rate card, or a formula, uses it.',
    success: reply.empty(),
    errors: [404, 409],
  }),
};
