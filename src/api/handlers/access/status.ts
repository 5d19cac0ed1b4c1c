import { getStatus } from '../../../queries/access/status.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';
import { knownParts } from '../../pages/health.js';

export const statusHandlers: Handlers<Operations['status']> = {
  get: async (_request, scope, platform) => {
    const { database, broker, temporal } = await knownParts(platform);
    const { areWorkersRunning: worker } = platform.health;
    const status = await getStatus(scope, broker ? platform.broker : null);
    return { parts: { database, broker, temporal, worker }, ...status };
  },
};
