import {
  createPriceableAttribute,
  deletePriceableAttribute,
  updatePriceableAttribute,
} from '../../../commands/catalog/priceable-attribute.js';
import {
  getPriceableAttribute,
  listPriceableAttributes,
} from '../../../queries/catalog/attribute.js';
import type { Operations } from '../../../schemas/index.js';
import { pageRequest } from '../../../schemas/http/paging.js';
import type { Handlers } from '../../mount-operations.js';

export const attributeHandlers: Handlers<Operations['attribute']> = {
  list: ({ params, query }, scope) =>
    listPriceableAttributes(scope, params.serviceId, pageRequest(query)),
  get: ({ params }, scope) => getPriceableAttribute(scope, params.serviceId, params.attributeId),
  create: ({ params, body }, scope) => createPriceableAttribute(scope, params.serviceId, body),
  update: ({ params, body }, scope) =>
    updatePriceableAttribute(scope, params.serviceId, params.attributeId, body),
  delete: ({ params }, scope) =>
    deletePriceableAttribute(scope, params.serviceId, params.attributeId),
};
