import { utcDate } from '../../../kernel/time/date.js';
import { createService, deleteService, updateService } from '../../../commands/catalog/service.js';
import { getService, listServices } from '../../../queries/catalog/service.js';
import type { Operations } from '../../../schemas/index.js';
import { pageRequest } from '../../../schemas/http/paging.js';
import type { Handlers } from '../../mount-operations.js';

export const serviceHandlers: Handlers<Operations['service']> = {
  list: ({ query }, scope) => listServices(scope, pageRequest(query), query.q),
  get: ({ params }, { db, tenantId, now }) =>
    getService(db.read, tenantId, params.serviceId, utcDate(now())),
  create: ({ body }, scope) => createService(scope, body),
  update: ({ params, body }, scope) => updateService(scope, params.serviceId, body),
  delete: ({ params }, scope) => deleteService(scope, params.serviceId),
};
