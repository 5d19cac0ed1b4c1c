import { Type } from 'typebox';
import { Picklist } from '../../kernel/picklist-field.js';
import { examples } from '../openapi/examples.js';
import { nullable, optional, Text, updateBody, Uuid, writeBody } from '../fields/field.js';
import { external, operation, reply } from '../http/operation.js';
import { pageQuery } from '../http/paging.js';

const StepName = (description: string) =>
  Type.String({
    description,
    maxLength: 255,
    pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
    expected: 'a name of letters, digits and _ that begins with no digit, such as base_price',
  });

const StepWrite = writeBody(
  {
    name: StepName('Name of the step; later steps use it.'),
    label: optional(Text('What people read.')),
    formula: Type.String({
      minLength: 1,
      maxLength: 2000,
      pattern: '\\S',
      description: 'Formula: + - * /, Ceil, Floor, Round, Price(attribute, quantity), literals.',
    }),
  },
  { description: 'A step.' },
);

export const PricingLogicWrite = writeBody(
  {
    name: Text('Name of the computation.'),
    priceOutput: StepName('Name of the step that holds the price.'),
    transactionDimension: Text('Dimension that says who is billed; made if missing.'),
    usageType: optional(Picklist('usageType', { description: 'Charge (default) or Payout.' })),
    chargeType: optional(
      Picklist('chargeType', { description: 'What it charges for; Usage when none is given.' }),
    ),
    steps: Type.Array(StepWrite, {
      minItems: 1,
      maxItems: 200,
      description: 'Its steps, in order.',
    }),
  },
  { description: 'Formula steps that make a charge of the values of a rate card.' },
);
export const PricingLogicUpdate = updateBody(PricingLogicWrite, ['usageType']);

export const PricingLogic = Type.Object(
  {
    id: Uuid('Id of the pricing logic.'),
    name: Type.String({ description: 'Name of the computation.' }),
    seqNo: Type.Integer({ description: 'Its place in the order, counted from 1.' }),
    priceOutput: Type.String({ description: 'Name of the step that holds the price.' }),
    transactionDimension: Type.String({ description: 'Dimension that says who is billed.' }),
    usageType: Type.String({ description: 'Charge or Payout.' }),
    chargeType: nullable(Type.String({ description: 'Usage, Subscription, All or OTC.' })),
    steps: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'Name of the step.' }),
          label: nullable(Type.String({ description: 'What people read.' })),
          formula: Type.String({ description: 'Its formula.' }),
        },
        { description: 'A step.' },
      ),
      { description: 'Its steps, in order.' },
    ),
  },
  { description: 'Formula steps that make a charge of the values of a rate card.' },
);

const tag = 'Services';
const collection = external('/services/{serviceId}/pricing-logic');
const item = external('/services/{serviceId}/pricing-logic/{pricingLogicId}');

export const pricingLogicOperations = {
  list: operation({
    id: 'listPricingLogic',
    method: 'GET',
    path: collection,
    tag,
    summary: 'List the pricing logic of a service',
    query: Type.Object(pageQuery),
    details: 'In the order in which they run.',
    success: reply.page(PricingLogic),
    errors: [400, 404],
  }),
  get: operation({
    id: 'getPricingLogic',
    method: 'GET',
    path: item,
    tag,
    summary: 'Read a pricing logic',
    details: 'With its steps in their order.',
    success: reply.dto(PricingLogic),
    errors: [404],
  }),
  create: operation({
    id: 'createPricingLogic',
    method: 'POST',
    path: collection,
    tag,
    summary: 'Add a pricing logic to a service',
    body: PricingLogicWrite,
    example: examples.pricingLogic,
    details:
      'Formulas are checked against the attributes: one that does not parse or names nothing known is 400, with its place.',
    success: reply.created(PricingLogic),
    errors: [400, 404, 409],
  }),
  update: operation({
    id: 'updatePricingLogic',
    method: 'PUT',
    path: item,
    tag,
    summary: 'Change a pricing logic',
    body: PricingLogicUpdate,
    example: examples.pricingLogicUpdate,
    details: 'Checked like a new one; steps, when present, replace the ones it has.',
    success: reply.dto(PricingLogic),
    errors: [400, 404, 409],
  }),
  delete: operation({
    id: 'deletePricingLogic',
    method: 'DELETE',
    path: item,
    tag,
    summary: 'Delete a pricing logic',
    details: 'Without any, the price is the sum of the rows.',
    success: reply.empty(),
    errors: [404],
  }),
};
