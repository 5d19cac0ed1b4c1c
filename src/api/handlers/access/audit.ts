import { listAudit } from '../../../queries/access/audit.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const auditHandlers: Handlers<Operations['audit']> = {
  list: ({ query: { limit, offset, entity, id, actor, from, to } }, scope) =>
    listAudit(scope, { entity, id, actor, from, to }, { limit, offset }),
};
