import { releaseHold as release } from '../../commands/balances/holds/hold.js';
import type { Scope } from '../../kernel/scope.js';
import type { Platform } from '../../process/platform.js';

/** Releases a hold, and notifies who shows what is held: no workflow does it. 404, 409: see there. */
export async function releaseHold(scope: Scope, { changes }: Platform, id: string): Promise<void> {
  await release(scope, id);
  changes.notify(scope.tenantId, { usage: true, executions: [] });
}
