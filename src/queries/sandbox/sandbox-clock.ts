import type { Static } from 'typebox';
import type { Scope } from '../../kernel/scope.js';
import { readTenantClock } from '../../models/sandbox/sandbox-clock.js';
import type * as schema from '../../schemas/sandbox/sandbox-clock.js';

/** The time of a tenant, and whether it is a sandbox's. */
export async function getClock({ db, tenantId, now }: Scope): Promise<Static<typeof schema.Clock>> {
  const clock = await readTenantClock(db.read, tenantId);
  return { now: (clock?.standsAt ?? now()).toISOString(), sandbox: clock !== undefined };
}
