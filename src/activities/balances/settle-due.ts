import { settleDue } from '../../commands/balances/grant.js';
import {
  keepJournal,
  listJournalsToKeep,
} from '../../commands/billing/journal/recognize-deferred.js';
import { releaseDueHolds } from '../../commands/balances/holds/release-due-holds.js';
import { listDueTenants } from '../../models/balances/wallet-balance.js';
import type { Cell } from '../../platform/database/cell.js';
import type { Platform } from '../../process/platform.js';
import { watchScope } from '../scope.js';

/** Wallets that are looked for at once, of all tenants; then of one. */
const duesMax = 1_000;
const walletsMax = 100;

/**
 * The tenants of a cell with grants that take effect or expire, holds whose time is over, or days whose
 * revenue is to be recognized.
 */
export async function listTenantsWithDue({ now }: Platform, { platform }: Cell): Promise<string[]> {
  const dues = await listDueTenants(platform, now(), duesMax);
  const journals = await listJournalsToKeep(platform, now(), duesMax);
  return [...new Set([...dues, ...journals])];
}

/** Does what is due of a tenant's grants, holds and journal, and notifies; false: there is no more. */
export async function settleDueOf(platform: Platform, tenantId: string): Promise<boolean> {
  const scope = await watchScope(platform, tenantId, 'balances');
  const wallets = await settleDue(scope, walletsMax);
  const accounts = await releaseDueHolds(scope, walletsMax);
  // Who shows what an account has, hears of it before the journal is kept.
  if (wallets > 0 || accounts > 0) {
    platform.changes.notify(tenantId, { usage: true, executions: [] });
  }
  const isJournalBehind = await keepJournal(scope);
  return wallets === walletsMax || accounts > 0 || isJournalBehind;
}
