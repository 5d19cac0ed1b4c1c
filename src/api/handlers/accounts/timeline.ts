import { listAccountTimeline } from '../../../queries/accounts/timeline.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const timelineHandlers: Handlers<Operations['timeline']> = {
  list: ({ params, query: { limit, offset, ...filter } }, scope) =>
    listAccountTimeline(scope, params.accountId, filter, { limit, offset }),
};
