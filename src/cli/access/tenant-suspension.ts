import type { Command } from 'commander';
import { firstLine } from '../../platform/startup-error.js';

/** Pauses the schedules of a tenant, or has those go on that were paused by it. */
async function changeSchedules(tenantId: string, isSuspended: boolean): Promise<void> {
  const { withTemporal } = await import('../start/temporal-access.js');
  const { holdSchedules } = await import('../../flows/billing/billing-schedule.js');
  try {
    await withTemporal(({ client }) => holdSchedules(client, tenantId, isSuspended));
  } catch (error) {
    const what = isSuspended ? 'paused' : 'resumed';
    process.stderr.write(`its schedules could not be ${what}: ${firstLine(error)}\n`);
    process.exitCode = 1;
  }
}

async function changeSuspension(id: string, isSuspended: boolean): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { requireTenant, resumeTenant, suspendTenant } = await import('../../access/tenants.js');
  const { recordCommand } = await import('./security-event.js');
  const isChanged = await withInstance(({ database }) =>
    database.platform.transaction(async (trx) => {
      await requireTenant(trx, id);
      const hasChanged = await (isSuspended
        ? suspendTenant(trx, id, new Date())
        : resumeTenant(trx, id));
      if (hasChanged) {
        const action = isSuspended ? 'suspend' : 'resume';
        await recordCommand(trx, { tenantId: id, entity: 'tenant', entityKey: id, action });
      }
      return hasChanged;
    }),
  );
  // Also where it was suspended before: Temporal may have been away then.
  await changeSchedules(id, isSuspended);
  const already = isChanged ? '' : ' already';
  process.stdout.write(
    isSuspended
      ? `${id} is suspended${already}; its tokens and keys are refused within ten seconds\n`
      : `${id} is not suspended${already ? '' : ' any more'}\n`,
  );
}

/** `durabill tenant suspend|resume` (docs/decisions/0197). */
export function registerSuspension(group: Command): void {
  group
    .command('suspend')
    .description('Refuse all tokens and keys of a tenant; its webhooks and schedules pause.')
    .argument('<id>', 'tenant')
    .action((id: string) => changeSuspension(id, true));
  group
    .command('resume')
    .description('End a suspension: what waited goes on.')
    .argument('<id>', 'tenant')
    .action((id: string) => changeSuspension(id, false));
}
