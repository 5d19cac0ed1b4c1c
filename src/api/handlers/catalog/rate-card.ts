import {
  createServiceRateCard,
  deleteServiceRateCard,
  putServiceRateCard,
} from '../../../commands/catalog/rate-card.js';
import {
  createServiceCardVersion,
  deleteServiceCardVersion,
} from '../../../commands/catalog/rate-card-version.js';
import {
  getServiceRateCard,
  listServiceRateCards,
  listServiceRateCardVersions,
} from '../../../queries/catalog/rate-card.js';
import type { Operations } from '../../../schemas/index.js';
import { pageRequest } from '../../../schemas/http/paging.js';
import type { Handlers } from '../../mount-operations.js';

export const rateCardHandlers: Handlers<Operations['rateCard']> = {
  list: ({ params, query }, scope) =>
    listServiceRateCards(scope, params.serviceId, pageRequest(query)),
  get: ({ params }, scope) => getServiceRateCard(scope, params.serviceId, params.currency),
  listVersions: ({ params, query }, scope) =>
    listServiceRateCardVersions(scope, params.serviceId, params.currency, pageRequest(query)),
  createVersion: ({ params, body }, scope) =>
    createServiceCardVersion(scope, params.serviceId, params.currency, body),
  deleteVersion: ({ params: { serviceId, currency, versionNo } }, scope) =>
    deleteServiceCardVersion(scope, serviceId, currency, versionNo),
  create: ({ params, body }, scope) => createServiceRateCard(scope, params.serviceId, body),
  replace: ({ params, body }, scope) =>
    putServiceRateCard(scope, params.serviceId, params.currency, body),
  delete: ({ params }, scope) => deleteServiceRateCard(scope, params.serviceId, params.currency),
};
