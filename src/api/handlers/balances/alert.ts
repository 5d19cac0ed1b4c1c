import { createAlert, deleteAlert, updateAlert } from '../../../commands/balances/alert.js';
import { getAlert, listAlerts } from '../../../queries/balances/alert.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const alertHandlers: Handlers<Operations['alert']> = {
  list: ({ query }, scope) => listAlerts(scope, query),
  get: ({ params }, scope) => getAlert(scope, params.alertId),
  create: ({ body }, scope) => createAlert(scope, body),
  update: ({ params, body }, scope) => updateAlert(scope, params.alertId, body),
  delete: ({ params }, scope) => deleteAlert(scope, params.alertId),
};
