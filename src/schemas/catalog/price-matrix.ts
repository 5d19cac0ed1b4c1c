import { Type } from 'typebox';
import { examples } from '../openapi/examples.js';
import { CurrencyReference, Uuid, writeBody } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { RateCard, RateCardRowWrite } from './rate-card.js';
import { Currency } from '../reference/reference-data.js';
import { RecordId } from '../http/record-id.js';

const currencyId = CurrencyReference('Currency of the matrix, by id, code or name.');
const priceMatrixRows = Type.Array(RateCardRowWrite, {
  minItems: 1,
  maxItems: 10_000,
  description: 'Its rows, in the order in which ties are settled.',
});
const serviceId = RecordId('service', 'Service whose list prices they are.');
const contractSvcId = Uuid('Line whose exception prices they are.');

/** What an answer adds to a body is ignored in the next one. */
const ignore = ['currency', 'warnings'];

export const PriceMatrixInsert = writeBody(
  { serviceId, currencyId, priceMatrixRows },
  { description: 'The list prices of a service in one currency.', ignore },
);
export const PriceMatrixUpdate = writeBody(
  { serviceId, currencyId, priceMatrixRows: Type.Optional(priceMatrixRows) },
  { description: 'The list prices that replace those of a service in one currency.', ignore },
);
export const ExceptionMatrixInsert = writeBody(
  { contractSvcId, currencyId, priceMatrixRows },
  { description: 'The exception prices of a line in one currency.', ignore },
);
export const ExceptionMatrixUpdate = writeBody(
  { contractSvcId, currencyId, priceMatrixRows: Type.Optional(priceMatrixRows) },
  { description: 'The exception prices that replace those of a line in one currency.', ignore },
);

export const PricingCopy = writeBody(
  {
    q2cEntityServiceId: Uuid('Line that gets the prices.'),
    sourceServiceId: RecordId('service', 'Service whose list prices are copied.'),
    currencyId: CurrencyReference('Currency of the prices, by id, code or name.'),
  },
  { description: 'List prices to copy onto a line.' },
);

const currencyIdShown = Uuid('Id of its currency.');

/** A rate card, with what it belongs to. */
export const PriceMatrix = Type.Object(
  { serviceId, currencyId: currencyIdShown, ...RateCard.properties },
  { description: 'The list prices of a service in one currency.' },
);
export const ExceptionMatrix = Type.Object(
  { contractSvcId, currencyId: currencyIdShown, ...RateCard.properties },
  { description: 'The exception prices of a line in one currency.' },
);

const tag = 'Price matrices';
const currencyQuery = Type.Object({ currencyId });

const exceptionOperations = {
  getException: operation({
    id: 'getExceptionMatrix',
    method: 'GET',
    path: '/api/service-price-matrix/contract/{contractServiceId}',
    tag,
    summary: 'Read the exception prices of a line in one currency',
    query: currencyQuery,
    details: 'The same as the current exception card.',
    success: reply.enveloped(ExceptionMatrix),
    errors: [404],
  }),
  insertException: operation({
    id: 'insertExceptionMatrix',
    method: 'POST',
    path: '/api/service-price-matrix/contract/insert',
    tag,
    summary: 'Give a line exception prices in a currency in which it has none',
    body: ExceptionMatrixInsert,
    example: examples.exceptionMatrix,
    details: '409 when the currency has prices already: update them.',
    success: reply.enveloped(ExceptionMatrix, 201),
    errors: [409],
  }),
  updateException: operation({
    id: 'updateExceptionMatrix',
    method: 'PUT',
    path: '/api/service-price-matrix/contract/update',
    tag,
    summary: 'Make a new version of the exception prices of a line in one currency',
    body: ExceptionMatrixUpdate,
    example: examples.exceptionMatrix,
    details: 'Late usage of before keeps its prices.',
    success: reply.enveloped(ExceptionMatrix),
    errors: [404, 409],
  }),
  copyFromService: operation({
    id: 'copyPricingFromService',
    method: 'POST',
    path: '/api/service-price-matrix/contract/copy-from-service',
    tag,
    summary: 'Copy the list prices of a service in one currency onto a line',
    description: 'They replace the exception prices that the line has in that currency.',
    body: PricingCopy,
    example: examples.pricingCopy,
    success: reply.enveloped(ExceptionMatrix),
    errors: [404, 409],
  }),
};

export const priceMatrixOperations = {
  get: operation({
    id: 'getPriceMatrix',
    method: 'GET',
    path: '/api/service-price-matrix/{serviceId}',
    tag,
    summary: 'Read the list prices of a service in one currency',
    query: currencyQuery,
    details: 'The same as the current rate card, with its rows as priceMatrixRows in requests.',
    success: reply.enveloped(PriceMatrix),
    errors: [404],
  }),
  listCurrencies: operation({
    id: 'listPriceMatrixCurrencies',
    method: 'GET',
    path: '/api/service-price-matrix/currencies',
    tag,
    summary: 'List the currencies in which a service has list prices',
    query: Type.Object({ serviceId }),
    details: 'In these the service can be rated from the catalog.',
    success: reply.envelopedList(Currency),
    errors: [404],
  }),
  insert: operation({
    id: 'insertPriceMatrix',
    method: 'POST',
    path: '/api/service-price-matrix/insert',
    tag,
    summary: 'Give a service list prices in a currency in which it has none',
    body: PriceMatrixInsert,
    example: examples.priceMatrix,
    details: '409 when the currency has prices already: update them.',
    success: reply.enveloped(PriceMatrix, 201),
    errors: [409],
  }),
  update: operation({
    id: 'updatePriceMatrix',
    method: 'PUT',
    path: '/api/service-price-matrix/update',
    tag,
    summary: 'Replace the list prices of a service in one currency',
    description: 'On an approved service this makes a new version.',
    body: PriceMatrixUpdate,
    example: examples.priceMatrix,
    success: reply.enveloped(PriceMatrix),
    errors: [404, 409],
  }),
  ...exceptionOperations,
};
