import type { Command } from 'commander';

interface HoldOptions {
  readonly reason?: string;
  readonly release?: true;
}

const reasonLengthMax = 500;

async function changeHold(id: string, { reason, release }: HoldOptions): Promise<void> {
  if ((reason === undefined) === (release === undefined)) {
    throw new Error('Say either why it is held, with --reason, or --release.');
  }
  if (reason !== undefined && (reason.trim() === '' || reason.length > reasonLengthMax)) {
    throw new Error(`The reason must have 1 to ${reasonLengthMax} characters.`);
  }
  const { withInstance } = await import('../start/instance.js');
  const { requireTenant } = await import('../../access/tenants.js');
  const { findLegalHold, placeLegalHold, releaseLegalHold } =
    await import('../../models/access/legal-hold.js');
  const { commandLine, recordCommand } = await import('../access/security-event.js');
  await withInstance(async ({ database }) => {
    await requireTenant(database.platform, id);
    const { platform } = await database.cellOf(id);
    await platform.transaction(async (trx) => {
      const event = { tenantId: id, entity: 'tenant', entityKey: id } as const;
      if (reason === undefined) {
        if (!(await releaseLegalHold(trx, id))) throw new Error(`'${id}' is under no legal hold.`);
        await recordCommand(trx, { ...event, action: 'release' });
        return;
      }
      const hold = { tenantId: id, reason, placedBy: commandLine, placedAt: new Date() };
      if (!(await placeLegalHold(trx, hold))) {
        const standing = await findLegalHold(trx, id);
        throw new Error(`'${id}' is under a legal hold already: ${standing?.reason ?? ''}`);
      }
      await recordCommand(trx, { ...event, action: 'hold', details: { reason } });
    });
  });
  process.stdout.write(
    reason === undefined
      ? `${id} is under no legal hold any more\n`
      : `${id} is under a legal hold: nothing of it is removed, erased or deleted\n`,
  );
}

/** `durabill tenant hold` (docs/decisions/0350). */
export function registerHold(group: Command): void {
  group
    .command('hold')
    .description('Keep everything of a tenant, whatever its retention, until it is released.')
    .argument('<id>', 'tenant')
    .option('--reason <text>', 'why; the audit keeps it')
    .option('--release', 'end the hold')
    .action(changeHold);
}
