import { Type } from 'typebox';
import { Picklist } from '../../kernel/picklist-field.js';
import { Attribute, AttributeWrite } from './attribute.js';
import { examples } from '../openapi/examples.js';
import {
  CurrencyCode,
  FreeText,
  nullable,
  optional,
  Text,
  updateBody,
  Uuid,
  writeBody,
} from '../fields/field.js';
import { external, operation, reply } from '../http/operation.js';
import { pageQuery, searchQuery, viewQuery } from '../http/paging.js';
import { PricingLogic, PricingLogicWrite } from './pricing-logic.js';
import { RateCard, RateCardWrite } from './rate-card.js';
import { rowSpec } from '../http/row.js';

export const ServiceCreate = writeBody(
  {
    name: Text('Name of the service, unique.'),
    label: optional(Text('Name that people read.')),
    code: optional(Text('Short code.')),
    serviceType: optional(
      Picklist('serviceType', { description: 'Usage (default), Subscription or OTC.' }),
    ),
    serviceStatus: optional(
      Picklist('serviceStatus', { description: 'Active (default) or Inactive.' }),
    ),
    currency: optional(CurrencyCode('Currency code or name for usage that has no other.')),
    chargeFrequency: optional(
      Picklist('chargeFrequency', { description: 'How often it is charged.' }),
    ),
    billingFrequency: optional(
      Picklist('billingFrequency', { description: 'How often it is invoiced.' }),
    ),
    priceableAttributes: optional(
      Type.Array(AttributeWrite, { maxItems: 1000, description: 'What is priced.' }),
    ),
    inputAttributes: optional(
      Type.Array(AttributeWrite, { maxItems: 1000, description: 'What formulas use beside.' }),
    ),
    rateCards: optional(
      Type.Array(RateCardWrite, { maxItems: 200, description: 'The list price by currency.' }),
    ),
    pricingLogic: optional(
      Type.Array(PricingLogicWrite, {
        maxItems: 100,
        description: 'How the price is computed, in order.',
      }),
    ),
    description: optional(FreeText('What is sold.')),
  },
  { description: 'A catalog service.' },
);
export const ServiceUpdate = updateBody(ServiceCreate, ['serviceType', 'serviceStatus']);

const ServiceHeader = {
  id: Uuid('Id of the service.'),
  name: Type.String({ description: 'Name of the service.' }),
  label: nullable(Type.String({ description: 'Name that people read.' })),
  code: nullable(Type.String({ description: 'Short code.' })),
  serviceType: Type.String({ description: 'Usage, Subscription or OTC.' }),
  serviceStatus: Type.String({ description: 'Active or Inactive.' }),
  approvalStatus: Type.String({ description: 'Draft, Pending Approval, Approved or Rejected.' }),
  currency: nullable(Type.String({ description: 'ISO code of its currency.' })),
  chargeFrequency: nullable(Type.String({ description: 'How often it is charged.' })),
  billingFrequency: nullable(Type.String({ description: 'How often it is invoiced.' })),
  description: nullable(Type.String({ description: 'What is sold.' })),
};

/** The service without its collections: what a row of a list shows. */
export const ServiceSummary = Type.Object(ServiceHeader, {
  description: 'A catalog service without its collections.',
});

export const Service = Type.Object(
  {
    ...ServiceHeader,
    priceableAttributes: Type.Array(Attribute, { description: 'What is priced.' }),
    inputAttributes: Type.Array(Attribute, { description: 'What formulas use beside.' }),
    rateCards: Type.Array(RateCard, { description: 'The current card of each currency.' }),
    pricingLogic: Type.Array(PricingLogic, { description: 'How the price is computed.' }),
  },
  { description: 'A catalog service.' },
);

const lookups = {
  currency: 'currency',
  serviceType: 'serviceType',
  serviceStatus: 'serviceStatus',
  chargeFrequency: 'chargeFrequency',
  billingFrequency: 'billingFrequency',
  approvalStatus: 'approvalStatus',
} as const;
const serviceRow = rowSpec('Service', ServiceSummary, lookups);
const serviceDetailRow = rowSpec('Service', Service, lookups);

const tag = 'Services';

export const serviceOperations = {
  list: operation({
    id: 'listServices',
    method: 'GET',
    path: external('/services'),
    tag,
    summary: 'List services',
    query: Type.Object({ ...pageQuery, ...searchQuery('the name, code or label') }),
    details: 'By name, a page of rows without attributes and prices.',
    success: reply.rowPage(serviceRow),
    errors: [400],
  }),
  get: operation({
    id: 'getService',
    method: 'GET',
    path: external('/services/{serviceId}'),
    tag,
    summary: 'Read a service with its attributes, current rate cards and pricing logic',
    query: Type.Object(viewQuery),
    details:
      'With all that rating uses: what is counted, the current card of each currency, the formulas.',
    success: reply.dto(Service, serviceDetailRow),
    errors: [400, 404],
  }),
  create: operation({
    id: 'createService',
    method: 'POST',
    path: external('/services'),
    tag,
    summary: 'Create a service with its attributes, rate cards and pricing logic',
    body: ServiceCreate,
    example: examples.service,
    details:
      'All in one body: what can be counted, what it costs, and formulas over these prices. Or add them one by one later.',
    success: reply.created(Service),
    errors: [400, 409],
  }),
  update: operation({
    id: 'updateService',
    method: 'PUT',
    path: external('/services/{serviceId}'),
    tag,
    summary: 'Change a service; a collection that is present replaces the whole of it',
    body: ServiceUpdate,
    example: examples.serviceUpdate,
    details:
      'What is left out stays. A card that is sent for an approved service becomes a new version, so that late usage keeps the prices of its day.',
    success: reply.dto(Service),
    errors: [400, 404, 409],
  }),
  delete: operation({
    id: 'deleteService',
    method: 'DELETE',
    path: external('/services/{serviceId}'),
    tag,
    summary: 'Delete a service with its pricing logic, rate cards and attributes',
    details: '409 while lines of contracts sell it: set serviceStatus to Inactive instead.',
    success: reply.empty(),
    errors: [404, 409],
  }),
};
