import { Type } from 'typebox';
import { examples } from '../openapi/examples.js';
import { nullable, Text, updateBody, Uuid, writeBody } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { PricingLogic, PricingLogicWrite } from './pricing-logic.js';
import { RecordId } from '../http/record-id.js';

const write = PricingLogicWrite.properties;
const shown = PricingLogic.properties;

/** The largest `integer` of PostgreSQL. */
const seqNoMax = 2_147_483_647;
const seqNo = (description: string) => Type.Integer({ minimum: 0, maximum: seqNoMax, description });

export const ExpressionListWrite = writeBody(
  {
    exprList: write.steps,
    computationOutput: writeBody(
      {
        priceOutput: write.priceOutput,
        transactionDimension: write.transactionDimension,
        usageType: write.usageType,
        chargeType: write.chargeType,
      },
      { description: 'What becomes of the values of its steps.' },
    ),
  },
  { description: 'The pricing logic of the resource API: its steps and their output.' },
);

export const RateComputationCreate = writeBody(
  {
    serviceId: RecordId('service', 'Service that it is of.'),
    name: Text('Name of the computation.'),
    seqNo: seqNo('Its place in the order; of two of one number the older goes first.'),
    expressionList: ExpressionListWrite,
  },
  { description: 'A computation of a service.' },
);
export const RateComputationUpdate = updateBody(RateComputationCreate);

const ExpressionList = Type.Object(
  {
    exprList: shown.steps,
    computationOutput: Type.Object(
      {
        priceOutput: shown.priceOutput,
        transactionDimension: shown.transactionDimension,
        usageType: shown.usageType,
        chargeType: shown.chargeType,
      },
      { description: 'What becomes of the values of its steps.' },
    ),
  },
  { description: 'The pricing logic of the resource API: its steps and their output.' },
);

export const RateComputation = Type.Object(
  {
    id: Uuid('Id of the computation: that of the pricing logic.'),
    serviceId: Uuid('Service that it is of.'),
    name: Type.String({ description: 'Name of the computation.' }),
    seqNo: Type.Integer({ description: 'Its place in the order.' }),
    expressionList: ExpressionList,
  },
  { description: 'A computation of a service.' },
);

const place = (what: string) =>
  nullable(Type.Integer({ description: `${what}; null where the fault is not at one place.` }));

export const ComputationCheck = Type.Object(
  {
    id: Uuid('Id of the computation.'),
    name: Type.String({ description: 'Name of the computation.' }),
    seqNo: Type.Integer({ description: 'Its place in the order.' }),
    valid: Type.Boolean({ description: 'Whether usage can be rated with it.' }),
    errors: Type.Array(
      Type.Object(
        {
          step: nullable(
            Type.String({ description: 'Name of the step; null for faults of the whole.' }),
          ),
          position: place('Character of the formula, counted from 1'),
          line: place('Line of the formula, counted from 1'),
          column: place('Character of that line, counted from 1'),
          message: Type.String({ description: 'What is wrong.' }),
        },
        { description: 'A fault.' },
      ),
      { description: 'What is wrong with it.' },
    ),
  },
  { description: 'Whether a computation is valid.' },
);

const tag = 'Rate computations';
const item = '/api/rate-computation/{computationId}';

export const rateComputationOperations = {
  list: operation({
    id: 'listRateComputations',
    method: 'GET',
    path: '/api/rate-computation/service/{serviceId}/all',
    tag,
    summary: 'List the computations of a service in their order',
    details: 'Each is a pricing logic of the service, with its steps as exprList.',
    success: reply.envelopedList(RateComputation),
    errors: [404],
  }),
  validate: operation({
    id: 'validateRateComputations',
    method: 'GET',
    path: '/api/rate-computation/service/{serviceId}/validate',
    tag,
    summary: 'Check all computations of a service against its attributes and rate cards',
    details:
      'An entry for each, with the step, line and column of every fault. What was valid may become stale when cards go.',
    success: reply.envelopedList(ComputationCheck),
    errors: [404],
  }),
  create: operation({
    id: 'createRateComputation',
    method: 'POST',
    path: '/api/rate-computation',
    tag,
    summary: 'Add a computation to a service',
    body: RateComputationCreate,
    example: examples.rateComputation,
    details: 'One that does not parse or names nothing known is 400, with its place.',
    success: reply.enveloped(RateComputation, 201),
    errors: [400, 409],
  }),
  update: operation({
    id: 'updateRateComputation',
    method: 'PUT',
    path: item,
    tag,
    summary: 'Change a computation',
    body: RateComputationUpdate,
    example: examples.rateComputationUpdate,
    details: 'expressionList, when present, is replaced as a whole.',
    success: reply.enveloped(RateComputation),
    errors: [404, 409],
  }),
  delete: operation({
    id: 'deleteRateComputation',
    method: 'DELETE',
    path: item,
    tag,
    summary: 'Delete a computation',
    details: 'Without any, the price is the sum of the rows.',
    success: reply.empty(),
    errors: [404],
  }),
};
