import { createTaxRate, deleteTaxRate, updateTaxRate } from '../../../commands/billing/tax-rate.js';
import { listTaxRates } from '../../../queries/billing/tax-rate.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const taxRateHandlers: Handlers<Operations['taxRate']> = {
  list: ({ query }, scope) => listTaxRates(scope, query),
  create: ({ body }, scope) => createTaxRate(scope, body),
  update: ({ params, body }, scope) => updateTaxRate(scope, params.taxRateId, body),
  delete: ({ params }, scope) => deleteTaxRate(scope, params.taxRateId),
};
