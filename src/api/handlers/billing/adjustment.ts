import {
  createAdjustment,
  deleteAdjustment,
  updateAdjustment,
} from '../../../commands/billing/adjustments/adjustment.js';
import { getAdjustment, listAdjustments } from '../../../queries/billing/adjustments/adjustment.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const adjustmentHandlers: Handlers<Operations['adjustment']> = {
  list: ({ query }, scope) => listAdjustments(scope, query),
  get: ({ params }, scope) => getAdjustment(scope, params.adjustmentId),
  create: ({ body }, scope) => createAdjustment(scope, body),
  update: ({ params, body }, scope) => updateAdjustment(scope, params.adjustmentId, body),
  delete: ({ params }, scope) => deleteAdjustment(scope, params.adjustmentId),
};
