import { settleDue } from '../../commands/balances/grant.js';
import { listDueTenants } from '../../models/balances/wallet-balance.js';
import type { Cell } from '../../platform/database/cell.js';
import type { Platform } from '../../process/platform.js';

const actor = 'balances';
/** Wallets that are looked for at once, of all tenants; then of one. */
const duesMax = 1_000;
const walletsMax = 100;

/** The tenants of a cell with grants that take effect or expire. */
export const listTenantsWithDue = ({ now }: Platform, { platform }: Cell): Promise<string[]> =>
  listDueTenants(platform, now(), duesMax);

/** Enters and expires what is due of a tenant; false: there is no more. */
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
  return (await settleDue(scope, walletsMax)) === walletsMax;
}
