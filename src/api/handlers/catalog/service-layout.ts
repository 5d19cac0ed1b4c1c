import { saveServiceLayout } from '../../../commands/catalog/service-layout.js';
import { getServiceLayout } from '../../../queries/catalog/service-layout.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const serviceLayoutHandlers: Handlers<Operations['serviceLayout']> = {
  get: ({ params }, scope) => getServiceLayout(scope, params.serviceId),
  save: ({ params, body }, scope) => saveServiceLayout(scope, params.serviceId, body),
};
