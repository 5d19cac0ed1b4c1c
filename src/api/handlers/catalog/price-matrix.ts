import {
  copyPricing,
  insertExceptionMatrix,
  insertPriceMatrix,
  updateExceptionMatrix,
  updatePriceMatrix,
  type CardChange,
} from '../../../commands/catalog/price-matrix.js';
import {
  getExceptionMatrix,
  getPriceMatrix,
  listPriceMatrixCurrencies,
} from '../../../queries/catalog/price-matrix.js';
import type { Operations } from '../../../schemas/index.js';
import type { RateCardWrite } from '../../../schemas/catalog/rate-card.js';
import type { Handlers } from '../../mount-operations.js';

interface MatrixChange {
  readonly currencyId: string;
  readonly priceMatrixRows?: RateCardWrite['rows'];
}

const changeOf = ({ currencyId: currency, priceMatrixRows: rows }: MatrixChange): CardChange =>
  rows ? { currency, rows } : { currency };

export const priceMatrixHandlers: Handlers<Operations['priceMatrix']> = {
  get: ({ params, query }, scope) => getPriceMatrix(scope, params.serviceId, query.currencyId),
  listCurrencies: ({ query }, scope) => listPriceMatrixCurrencies(scope, query.serviceId),
  insert: ({ body: { serviceId, currencyId: currency, priceMatrixRows: rows } }, scope) =>
    insertPriceMatrix(scope, serviceId, { currency, rows }),
  update: ({ body }, scope) => updatePriceMatrix(scope, body.serviceId, changeOf(body)),
  getException: ({ params, query }, scope) =>
    getExceptionMatrix(scope, params.contractServiceId, query.currencyId),
  insertException: (
    { body: { contractSvcId, currencyId: currency, priceMatrixRows: rows } },
    scope,
  ) => insertExceptionMatrix(scope, contractSvcId, { currency, rows }),
  updateException: ({ body }, scope) =>
    updateExceptionMatrix(scope, body.contractSvcId, changeOf(body)),
  copyFromService: (
    { body: { q2cEntityServiceId: contractServiceId, sourceServiceId, currencyId: currency } },
    scope,
  ) => copyPricing(scope, { contractServiceId, serviceId: sourceServiceId, currency }),
};
