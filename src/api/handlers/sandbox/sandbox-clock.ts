import { moveTenantClock } from '../../../flows/sandbox/sandbox-clock.js';
import { getClock } from '../../../queries/sandbox/sandbox-clock.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const clockHandlers: Handlers<Operations['clock']> = {
  get: (_request, scope) => getClock(scope),
  move: ({ body, idempotencyKey }, scope, platform) =>
    moveTenantClock(scope, platform, body.now, idempotencyKey),
};
