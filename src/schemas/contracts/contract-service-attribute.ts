import { Type } from 'typebox';
import { LineAttribute, LineAttributeUpdate, LineAttributeWrite } from '../catalog/attribute.js';
import { examples } from '../openapi/examples.js';
import { external, operation, reply } from '../http/operation.js';
import { pageQuery } from '../http/paging.js';

const tag = 'Contract services';
const collection = external(
  '/contracts/{contractId}/services/{contractServiceId}/priceable-attributes',
);
const item = external(
  '/contracts/{contractId}/services/{contractServiceId}/priceable-attributes/{attributeId}',
);

export const contractServiceAttributeOperations = {
  list: operation({
    id: 'listContractServiceAttributes',
    method: 'GET',
    path: collection,
    tag,
    summary: 'List the priceable attributes of a line',
    query: Type.Object(pageQuery),
    details: 'Those that were copied from the service, or given with the line.',
    success: reply.page(LineAttribute),
    errors: [400, 404],
  }),
  get: operation({
    id: 'getContractServiceAttribute',
    method: 'GET',
    path: item,
    tag,
    summary: 'Read a priceable attribute of a line',
    details: 'With its value on the contract, where it has one.',
    success: reply.dto(LineAttribute),
    errors: [404],
  }),
  create: operation({
    id: 'createContractServiceAttribute',
    method: 'POST',
    path: collection,
    tag,
    summary: 'Add a priceable attribute to a line',
    body: LineAttributeWrite,
    example: examples.attribute,
    details: 'Only this line has it: the service stays as it is.',
    success: reply.created(LineAttribute),
    errors: [400, 404, 409],
  }),
  update: operation({
    id: 'updateContractServiceAttribute',
    method: 'PUT',
    path: item,
    tag,
    summary: 'Change a priceable attribute of a line',
    body: LineAttributeUpdate,
    example: examples.attributeUpdate,
    details: 'Its dimensionValText is the quantity of a subscription.',
    success: reply.dto(LineAttribute),
    errors: [400, 404, 409],
  }),
  delete: operation({
    id: 'deleteContractServiceAttribute',
    method: 'DELETE',
    path: item,
    tag,
    summary: 'Delete a priceable attribute of a line',
    description: '409 while a row of a current exception card uses it.',
    success: reply.empty(),
    errors: [404, 409],
  }),
};
