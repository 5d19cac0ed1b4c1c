import { getStatus } from '../../../queries/access/status.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';
import { knownParts } from '../../pages/health.js';

export const statusHandlers: Handlers<Operations['status']> = {
  get: async (_request, scope, platform) => {
    const { database, broker: wasThere, temporal } = await knownParts(platform);
    const { areWorkersRunning: worker } = platform.health;
    const onFault = (error: unknown): void =>
      platform.log.warn({ err: error }, 'the usage log does not answer');
    const status = await getStatus(scope, wasThere ? { log: platform.broker, onFault } : null);
    // It may have gone since it was asked.
    const broker = status.usage.pending !== null;
    const { refused, ...limits } = await platform.rateLimits.standing(scope.tenantId);
    return {
      parts: { database, broker, temporal, worker },
      limits: {
        ...limits,
        refused: refused.count,
        refusedSince: refused.since?.toISOString() ?? null,
      },
      ...status,
    };
  },
};
