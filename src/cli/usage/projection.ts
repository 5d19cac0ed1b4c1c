import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';

const lookMs = 500;

/** Starts a rebuild of a tenant's totals and lists, and shows its progress. */
async function rebuild(tenantId: string, { background }: { background?: true }): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { requireTenant } = await import('../../access/tenants.js');
  const { rebuildProjections } = await import('../../commands/usage/project-usage.js');
  const { findRebuild } = await import('../../models/usage/usage-total-rebuild.js');
  const { isListing } = await import('../../models/usage/finding/usage-list.js');
  await withInstance(async ({ database }) => {
    await requireTenant(database.platform, tenantId);
    const trail = { actor: 'operator', requestId: randomUUID() };
    const db = database.forTenant(tenantId, trail, 'batch');
    await rebuildProjections({ tenantId, db });
    if (background === true) return;
    let shown = '';
    for (;;) {
      const progress = await findRebuild(db.read, tenantId);
      if (progress === undefined) break;
      const line = `${progress.done} of ${progress.days} days`;
      if (line !== shown) process.stderr.write(`${line}\n`);
      shown = line;
      await wait(lookMs);
    }
    while (await isListing(db.read, tenantId)) await wait(lookMs);
    process.stdout.write(`totals and lists of '${tenantId}' are made from its facts\n`);
  });
}

/** Prints the tenants with a rebuild or a move of facts under way. */
async function printStatus(): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { findRebuild, listRebuilds } = await import('../../models/usage/usage-total-rebuild.js');
  const { listFactMoves } = await import('../../models/usage/facts-of-earlier-versions.js');
  await withInstance(async ({ database }) => {
    const trail = { actor: 'operator', requestId: randomUUID() };
    for (const { platform } of database.cells) {
      for (const { tenantId, kind, moved, isDone } of await listFactMoves(platform)) {
        process.stdout.write(`${tenantId}\t${kind}: ${moved} moved${isDone ? ', all' : ''}\n`);
      }
      for (const tenantId of await listRebuilds(platform)) {
        const progress = await findRebuild(database.forTenant(tenantId, trail).read, tenantId);
        if (progress === undefined) continue;
        process.stdout.write(`${tenantId}\t${progress.done} of ${progress.days} days\n`);
      }
    }
  });
}

/** `durabill projections`: totals and lists that are stored for fast queries. */
export function registerProjections(program: Command): void {
  const group = program
    .command('projections')
    .description(
      'What is kept beside the facts so that it is found quickly: totals and lists of usage.',
    );
  group
    .command('rebuild')
    .description('Make them again from the facts, by the workers of the running instance.')
    .argument('<tenant>', 'tenant')
    .option('--background', 'do not wait for the end')
    .addHelpText(
      'after',
      `
Answers stay right meanwhile: they are summed from the facts, more slowly. 'durabill audit-schedule'
and the workflow audit-usage compare projections with facts.`,
    )
    .action(rebuild);
  group
    .command('status')
    .description(
      'Tenants whose projections are made, or whose facts are moved, and how far that is.',
    )
    .action(printStatus);
}
