import { showBillingRun } from '../../../flows/billing/billing-run.js';
import { listBillingRuns } from '../../../queries/billing/runs/read-billing-run.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const billingRunHandlers: Handlers<Operations['billingRun']> = {
  list: ({ query }, scope) => listBillingRuns(scope, query, query.kind),
  get: ({ params }, scope, platform) => showBillingRun(scope, platform, params.billingRunId),
};
