import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const changeHandlers: Handlers<Operations['change']> = {
  stream: ({ query: { seconds } }, { tenantId }, { changes }) => ({
    seconds,
    hear: (send) => changes.hear(tenantId, send),
  }),
};
