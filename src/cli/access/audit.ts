import type { Command } from 'commander';

/** The chain of events that belong to no tenant. */
const ofNobody = '*';

async function verify({ tenant }: { tenant?: string }): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { listTenants, requireTenant } = await import('../../access/tenants.js');
  const { verifyAuditChain } = await import('../../queries/access/audit-chain.js');
  const trail = { actor: 'command-line', requestId: 'audit-verify' };
  const faults = await withInstance(async ({ database }) => {
    if (tenant !== undefined && tenant !== ofNobody) await requireTenant(database.platform, tenant);
    const known = [...(await listTenants(database.platform)).map(({ id }) => id), ofNobody];
    let count = 0;
    for (const id of tenant === undefined ? known : [tenant]) {
      const { read } = database.forTenant(id, trail, 'batch');
      const { entries, removed, head, fault } = await verifyAuditChain(read, id);
      if (fault !== null) count += 1;
      const older = removed === 0 ? '' : ` after ${removed} that retention has removed`;
      process.stdout.write(`${id}\t${entries} entries${older}\t${fault ?? `fit, head ${head}`}\n`);
    }
    return count;
  });
  if (faults > 0) throw new Error(`The audit of ${faults} tenants does not fit.`);
}

/** `durabill audit verify`: shows that no entry of the audit was changed or removed. */
export function registerAudit(program: Command): void {
  const group = program.command('audit').description('Check the audit.');
  group
    .command('verify')
    .description('Walk the chains of the audit and say which entry does not fit first, if any.')
    .option('--tenant <id>', "only this tenant; '*' for events that belong to none")
    .addHelpText(
      'after',
      `
Ends with code 1 where something does not fit. The head of a chain, kept elsewhere, shows later
that its end was not cut off.`,
    )
    .action(verify);
}
