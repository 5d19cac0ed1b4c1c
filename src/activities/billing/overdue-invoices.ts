import { markOverdueInvoices } from '../../commands/billing/overdue-invoices.js';
import type { Cell } from '../../platform/database/cell.js';
import type { Platform } from '../../process/platform.js';
import { watchScope } from '../scope.js';
import { listTenants } from '../../access/tenants.js';

/** Invoices marked in one transaction: each one's webhook event has its items. */
const invoicesMax = 200;

/** The tenants of a cell whose invoices are looked at: not those that are suspended. */
export async function listBilledTenants({ database }: Platform, cell: Cell): Promise<string[]> {
  const tenants = await listTenants(database.platform);
  const billed: string[] = [];
  for (const { id, suspendedAt } of tenants) {
    if (suspendedAt === null && (await database.cellOf(id)) === cell) billed.push(id);
  }
  return billed;
}

/** Marks all invoices of a tenant that have become overdue. */
export async function markOverdue(platform: Platform, tenantId: string): Promise<void> {
  const scope = await watchScope(platform, tenantId, 'overdue-invoices');
  while ((await markOverdueInvoices(scope, invoicesMax)) === invoicesMax);
}
