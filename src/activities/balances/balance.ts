import { settleDue } from '../../commands/balances/grant.js';
import { releaseDueHolds } from '../../commands/balances/hold.js';
import { listDueTenants } from '../../models/balances/wallet-balance.js';
import type { Cell } from '../../platform/database/cell.js';
import type { Platform } from '../../process/platform.js';

const actor = 'balances';
/** Wallets that are looked for at once, of all tenants; then of one. */
const duesMax = 1_000;
const walletsMax = 100;

/** The tenants of a cell with grants that take effect or expire, or holds whose time is over. */
export const listTenantsWithDue = ({ now }: Platform, { platform }: Cell): Promise<string[]> =>
  listDueTenants(platform, now(), duesMax);

/** Does what is due of a tenant's grants and holds; false: there is no more. */
export async function settleDueOf(platform: Platform, tenantId: string): Promise<boolean> {
  const scope = {
    tenantId,
    orgId: null,
    roles: [],
    actor,
    requestId: actor,
    db: platform.database.forTenant(tenantId, { actor, requestId: actor }, 'batch'),
    now: await platform.clocks.of(tenantId),
    realNow: platform.now,
  };
  const wallets = await settleDue(scope, walletsMax);
  const accounts = await releaseDueHolds(scope, walletsMax);
  return wallets === walletsMax || accounts > 0;
}
