import {
  createComputation,
  deleteComputation,
  updateComputation,
} from '../../../commands/catalog/rate-computation.js';
import { checkComputations, listComputations } from '../../../queries/catalog/rate-computation.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const rateComputationHandlers: Handlers<Operations['rateComputation']> = {
  list: ({ params }, scope) => listComputations(scope, params.serviceId),
  validate: ({ params }, scope) => checkComputations(scope, params.serviceId),
  create: ({ body }, scope) => createComputation(scope, body),
  update: ({ params, body }, scope) => updateComputation(scope, params.computationId, body),
  delete: ({ params }, scope) => deleteComputation(scope, params.computationId),
};
