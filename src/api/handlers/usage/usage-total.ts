import { listUsageTotals } from '../../../queries/usage/totals/usage-total.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const usageTotalHandlers: Handlers<Operations['usageTotal']> = {
  list: ({ query }, scope) => listUsageTotals(scope, query),
};
