import { randomUUID } from 'node:crypto';
import { InvalidArgumentError, type Command } from 'commander';

/** A whole number from 0. */
function parseOffset(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Use a whole number from 0.');
  return Number(text);
}

async function printRanges({ tenant }: { tenant?: string }): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { listLostUsage } = await import('../../models/usage/lost-usage-range.js');
  const { requireTenant } = await import('../../access/tenants.js');
  const ranges = await withInstance(async ({ database }) => {
    if (tenant !== undefined) await requireTenant(database.platform, tenant);
    const cells = tenant === undefined ? database.cells : [await database.cellOf(tenant)];
    const found = await Promise.all(cells.map(({ platform }) => listLostUsage(platform, tenant)));
    return found.flat();
  });
  for (const { tenantId, partition, firstOffset, endOffset, foundAt, reason } of ranges) {
    const range = `${firstOffset} to ${endOffset - 1}`;
    process.stdout.write(
      `${[tenantId, partition, range, foundAt.toISOString(), reason].join('\t')}\n`,
    );
  }
}

interface SkipOptions {
  readonly from: number;
  readonly end: number;
  readonly reason: string;
}

/** Passes over a range that cannot be rated, such as one that cannot be read. */
async function skipRange(
  tenantId: string,
  partition: number,
  { from, end, reason }: SkipOptions,
): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { findLogEnd } = await import('../../models/usage/lost-usage-range.js');
  const { passOverLostUsage } = await import('../../commands/usage/lost-usage.js');
  const trail = { actor: 'operator', requestId: randomUUID() };
  const { requireTenant } = await import('../../access/tenants.js');
  const isPassed = await withInstance(async ({ database }) => {
    await requireTenant(database.platform, tenantId);
    const { platform } = await database.cellOf(tenantId);
    const logEnd = await findLogEnd(platform, tenantId, partition);
    if (logEnd !== undefined && end > logEnd) {
      throw new Error(
        `The log of '${tenantId}' ends at ${logEnd}: --end ${end} is after what was accepted.`,
      );
    }
    const db = database.forTenant(tenantId, trail);
    const now = () => new Date();
    const scope = { tenantId, ...trail, orgId: null, roles: [], now, realNow: now, db };
    return passOverLostUsage(scope, { partition, from, end, reason });
  });
  if (!isPassed) {
    throw new Error(
      `Partition ${partition} of '${tenantId}' does not stand at ${from}, or --end is not after it.`,
    );
  }
  process.stdout.write(`passed over ${end - from} offsets\n`);
}

/** `durabill usage-range`: ranges of the usage log that can never be rated. */
export function registerUsageRange(program: Command): void {
  const group = program
    .command('usage-range')
    .description('Ranges of the usage log that can never be rated.');
  group
    .command('list')
    .description('List them, newest first: tenant, partition, offsets, when they were found, why.')
    .option('--tenant <id>', 'of this tenant only')
    .action(printRanges);
  group
    .command('skip')
    .description('Pass over a range that cannot be rated, and record it.')
    .argument('<tenant>', 'tenant')
    .argument('<partition>', 'partition of its topic', parseOffset)
    .requiredOption('--from <offset>', 'the offset at which rating stands', parseOffset)
    .requiredOption('--end <offset>', 'the offset after the range', parseOffset)
    .requiredOption('--reason <text>', 'why it is passed over')
    .action(skipRange);
}
