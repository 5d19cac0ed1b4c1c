import { retryUsageEvent, retryUsageEvents } from '../../../flows/usage/usage-retry.js';
import { defined } from '../../../kernel/defined.js';
import { partitionOf } from '../../../messages/usage/log-partition.js';
import { limitReceipt } from '../../../queries/access/embedded-record.js';
import { listUsageEvents } from '../../../queries/usage/finding/usage-event-list.js';
import { getUsageEvent } from '../../../queries/usage/usage-event.js';
import { summarizeUsage } from '../../../queries/usage/usage-summary.js';
import { findUsageOutcomes } from '../../../queries/usage/usage-outcomes.js';
import { countRejections } from '../../../queries/usage/finding/usage-rejections.js';
import { readUsageEventFilter } from '../../../queries/usage/finding/usage-event-filter.js';
import { previewCredits } from '../../../commands/balances/preview-credits.js';
import { simulateUsage } from '../../../queries/usage/usage-simulation.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const usageEventHandlers: Handlers<Operations['usageEvent']> = {
  list: ({ query: { limit, offset, status, ...filter } }, scope, platform) =>
    listUsageEvents(
      scope,
      platform,
      { ...readUsageEventFilter(filter), ...defined({ status }) },
      { limit, offset },
    ),
  summary: (_input, scope, { broker }) => summarizeUsage(scope, broker),
  outcomes: ({ body }, scope) => findUsageOutcomes(scope, body.ranges),
  rejections: ({ query }, scope) => countRejections(scope, readUsageEventFilter(query)),
  get: async ({ params: { id }, query }, scope, platform) =>
    limitReceipt(scope, id, await getUsageEvent(scope, platform, id, query)),
  retry: ({ params, idempotencyKey }, scope, platform) =>
    retryUsageEvent(scope, platform, params.id, idempotencyKey),
  retryAll: ({ body, idempotencyKey }, scope, platform) =>
    retryUsageEvents(scope, platform, body, idempotencyKey),
  simulate: async ({ body }, scope, { log }) => {
    const simulated = await simulateUsage(scope, Array.isArray(body) ? body : [body], {
      partitionOf,
      onFault: (error) => log.error({ err: error }, 'simulation met an error of ours'),
    });
    const results = await previewCredits(scope, simulated);
    const [only] = results;
    return Array.isArray(body) || only === undefined ? results : only;
  },
};
