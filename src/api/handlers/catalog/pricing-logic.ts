import {
  createPricingLogic,
  deletePricingLogic,
  updatePricingLogic,
} from '../../../commands/catalog/pricing-logic.js';
import { getPricingLogic, listPricingLogic } from '../../../queries/catalog/pricing-logic.js';
import type { Operations } from '../../../schemas/index.js';
import { pageRequest } from '../../../schemas/http/paging.js';
import type { Handlers } from '../../mount-operations.js';

export const pricingLogicHandlers: Handlers<Operations['pricingLogic']> = {
  list: ({ params, query }, scope) => listPricingLogic(scope, params.serviceId, pageRequest(query)),
  get: ({ params }, scope) => getPricingLogic(scope, params.serviceId, params.pricingLogicId),
  create: ({ params, body }, scope) => createPricingLogic(scope, params.serviceId, body),
  update: ({ params, body }, scope) =>
    updatePricingLogic(scope, params.serviceId, params.pricingLogicId, body),
  delete: ({ params }, scope) => deletePricingLogic(scope, params.serviceId, params.pricingLogicId),
};
