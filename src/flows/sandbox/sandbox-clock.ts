import type { Scope } from '../../kernel/scope.js';
import type { Platform } from '../../process/platform.js';
import { readDateOrInstant } from '../../schemas/fields/date-or-instant.js';
import { runFlow } from '../run-flow.js';

/**
 * Moves the time of a sandbox forward, and does what falls due on the way. 400: it lies before the
 * time of the tenant. 409: the tenant is no sandbox, or its time is being moved.
 */
export async function moveTenantClock(
  scope: Scope,
  platform: Platform,
  now: string,
  idempotencyKey: string | null,
) {
  const to = readDateOrInstant(now)?.from ?? now;
  const { output } = await runFlow(scope, platform, {
    workflow: 'moveClock',
    input: { to },
    businessKey: () => 'clock',
    entityType: 'tenant',
    entityId: scope.tenantId,
    idempotencyKey,
    isLong: true,
    summary: `move the clock to ${to}`,
  });
  return output;
}
