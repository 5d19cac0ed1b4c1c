import { Picklist } from '../../kernel/picklist-field.js';
import { exampleIds } from '../openapi/examples.js';
import { FreeText, optional, Text } from '../fields/field.js';
import { Type } from 'typebox';
import { flow, named, Reference, startNode } from './flow.js';
import { RecordId } from '../http/record-id.js';

const serviceType = Picklist('serviceType', { description: 'Usage, Subscription or OTC.' });
const fields = {
  label: optional(Text('Name that people read.')),
  code: optional(Text('Short code.')),
  currency_id: named('currency', optional(Reference('currency', 'Currency: id, code or name.'))),
  service_type: named('serviceType', optional(serviceType)),
  billing_frequency: named(
    'billingFrequency',
    optional(Picklist('billingFrequency', { description: 'How often it is invoiced.' })),
  ),
  charge_frequency: named(
    'chargeFrequency',
    optional(Picklist('chargeFrequency', { description: 'How often it is charged.' })),
  ),
  description: optional(FreeText('What is sold.')),
};

export const serviceFlows = {
  createService: flow({
    slug: 'billing/service/create',
    name: 'Service Creation',
    description: 'Makes a service without attributes and prices.',
    entity: 'service',
    keyField: 'name',
    start: startNode({ name: Text('Name of the service, unique.'), ...fields }),
    example: {
      name: 'Storage',
      label: 'Object storage',
      code: 'storage',
      currency_id: 'USD',
      service_type: 'Usage',
      billing_frequency: 'Monthly',
      charge_frequency: 'Monthly',
    },
  }),
  editService: flow({
    slug: 'billing/service/edit',
    name: 'Service Edit Flow',
    description: 'Changes what is given of a service; one in draft is completed.',
    entity: 'service',
    keyField: 'id',
    start: startNode({
      id: RecordId('service', 'The service.'),
      name: Type.Optional(Text('Name of the service, unique.')),
      ...fields,
      service_type: named('serviceType', Type.Optional(serviceType)),
    }),
    example: { id: exampleIds.service, label: 'Calls' },
  }),
  deleteService: flow({
    slug: 'billing/service/delete',
    name: 'Service Delete Flow',
    description: 'Deletes a service that no contract has.',
    entity: 'service',
    keyField: 'id',
    start: startNode({ id: RecordId('service', 'The service.') }),
    example: { id: exampleIds.service },
  }),
  approveService: flow({
    slug: 'billing/service/approve',
    name: 'Service Approval',
    description: 'Approves a service: from then on a changed rate card is a new version.',
    entity: 'service',
    keyField: 'ID_Service',
    start: startNode({ ID_Service: named('id', RecordId('service', 'The service.')) }),
    example: { ID_Service: exampleIds.service },
  }),
  cloneService: flow({
    slug: 'billing/service/clone',
    name: 'Clone Service Flow',
    description: 'Copies a service with its attributes, current rate cards and pricing logic.',
    entity: 'service',
    keyField: 'Service_ID',
    // A reference that names nothing is 400.
    errors: [400, 409, 504],
    start: startNode({
      Service_ID: named('id', Reference('service', 'Service to copy: id, name or code.')),
    }),
    example: { Service_ID: exampleIds.service },
  }),
};
