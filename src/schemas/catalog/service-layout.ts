import { examples } from '../openapi/examples.js';
import { JsonObjectText } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';

const ServiceLayout = JsonObjectText('A layout of the builder: groups, fields, criteria logic.');

const tag = 'Services';
const path = '/api/v1/service-layout/{serviceId}';

export const serviceLayoutOperations = {
  get: operation({
    id: 'getServiceLayout',
    method: 'GET',
    path,
    tag,
    summary: 'Read the estimation layout of a service',
    description: '404 when none was saved.',
    success: reply.enveloped(ServiceLayout),
    errors: [404],
  }),
  save: operation({
    id: 'saveServiceLayout',
    method: 'PUT',
    path,
    tag,
    summary: 'Save the estimation layout of a service; it is kept exactly as it is sent',
    body: ServiceLayout,
    keepsBodyText: true,
    example: examples.serviceLayout,
    details:
      'A screen that asks for values of dimensions is built by it; billing does not look at it.',
    success: reply.enveloped(ServiceLayout),
    errors: [404],
  }),
};
