import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Command } from 'commander';
import type { Cell } from '../../platform/database/cell.js';
import { Problem } from '../../kernel/problem.js';

/** The time after which every process has noticed a suspension (docs/decisions/0197). */
const suspensionMs = 11_000;

/**
 * Deletes the tenant's schedules and terminates its workflows, whose ids begin with the tenant's
 * id.
 */
async function endWork(client: Client, tenantId: string): Promise<void> {
  const { changeBillingSchedule } = await import('../../flows/billing/billing-schedule.js');
  for (const job of ['billing', 'audit'] as const) {
    await changeBillingSchedule(client, tenantId, 'remove', job);
  }
  const query = `WorkflowId STARTS_WITH '${tenantId}/' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of client.workflow.list({ query })) {
    const handle = client.workflow.getHandle(workflowId);
    // A workflow that has ended meanwhile must not stop the deletion.
    await handle.terminate('the tenant is deleted').catch(() => undefined);
  }
}

/** Of a sandbox, rows may still come into being for as long as a suspension takes to be noticed. */
async function patiently<T>(isSandbox: boolean, work: () => Promise<T>): Promise<T> {
  for (const until = Date.now() + suspensionMs; ; await wait(500)) {
    try {
      return await work();
    } catch (error) {
      if (!isSandbox || error instanceof Problem || Date.now() > until) throw error;
    }
  }
}

async function removeTenant(id: string, { confirm }: { confirm?: string }): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { requireTenant, suspendTenant } = await import('../../access/tenants.js');
  const { readTenantClock } = await import('../../models/sandbox/sandbox-clock.js');
  const { findLegalHold } = await import('../../models/access/legal-hold.js');
  const { deleteTenant } = await import('../../access/tenant-deletion.js');
  const { commandLine, recordCommand } = await import('./security-event.js');
  const { isBeingMoved } = await import('../../access/cells/tenant-placement.js');
  const { withTemporal } = await import('../start/temporal-access.js');
  await withInstance(async ({ database }) => {
    await requireTenant(database.platform, id);
    if (await isBeingMoved(database.platform, id)) {
      throw new Error(
        `'${id}' is being moved: wait until it has ended, or durabill tenant move ${id} --cancel.`,
      );
    }
    const cellOfTenant = await database.cellOf(id);
    const isSandbox = (await readTenantClock(cellOfTenant.platform, id)) !== undefined;
    if (confirm !== id && !isSandbox) {
      throw new Error(
        `This deletes '${id}' with its accounts, usage and invoices for good; its audit is kept. ` +
          `Say so: durabill tenant delete ${id} --confirm ${id}`,
      );
    }
    const hold = await findLegalHold(cellOfTenant.platform, id);
    // The deletion refuses it, too: here nothing is suspended yet.
    if (hold) throw new Error(`'${id}' is under a legal hold: ${hold.reason}`);
    await withTemporal(async ({ client }) => {
      await database.platform.transaction(async (trx) => {
        if (!(await suspendTenant(trx, id, new Date()))) return;
        const action = 'suspend';
        await recordCommand(trx, { tenantId: id, entity: 'tenant', entityKey: id, action });
      });
      // Nobody counts on a sandbox: what still comes for it is refused with its rows.
      if (!isSandbox) {
        process.stderr.write(`${id} is suspended; it is deleted when every process has heard so\n`);
        await wait(suspensionMs);
      }
      await endWork(client, id);
    });
    const trail = { actor: commandLine, requestId: randomUUID() };
    const remove = (cell: Cell) =>
      patiently(isSandbox, () => deleteTenant(cell.forTenant(id, trail, 'batch'), commandLine));
    if (cellOfTenant !== database.home) await remove(cellOfTenant);
    await remove(database.home);
  });
  process.stdout.write(`deleted ${id}\n`);
}

/** `durabill tenant delete`. */
export function registerDeletion(group: Command): void {
  group
    .command('delete')
    .description('Delete a tenant with all that it has, but for its audit; a sandbox at once.')
    .argument('<id>', 'tenant')
    .option('--confirm <id>', 'its id once more: nothing brings it back')
    .action(removeTenant);
}
