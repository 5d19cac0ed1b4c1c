import { getRetention } from '../../../queries/ageing/retention.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const retentionHandlers: Handlers<Operations['retention']> = {
  get: (_request, scope) => getRetention(scope),
};
