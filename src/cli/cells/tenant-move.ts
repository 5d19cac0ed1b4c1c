import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { InvalidArgumentError, type Command } from 'commander';
import type { MoveProgress } from '../../messages/cells/tenant-move.js';

const lookMs = 500;

interface MoveOptions {
  readonly grace: number;
  readonly background?: true;
  readonly cancel?: true;
}

const units: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Written out: the kernel's parser would make every help slower. */
function parseGrace(text: string): number {
  const [, count, unit = ''] = /^(\d{1,4})([smhd])$/.exec(text) ?? [];
  if (count === undefined) {
    throw new InvalidArgumentError('Use a duration such as 30m, 1h or 7d.');
  }
  return Number(count) * (units[unit] ?? 0);
}

const lineOf = ({ phase, copied, tables, pauseMs }: MoveProgress): string => {
  if (phase === 'copying') return `copying: ${copied} of ${tables} tables follow`;
  return pauseMs === null ? phase : `${phase}; paused for ${Math.round(pauseMs)} ms`;
};

/** Shows the progress of a move until the tenant is in its new cell. */
async function followMove(client: Client, tenantId: string): Promise<void> {
  const { isMoveRunning, readTenantMove } = await import('../../flows/cells/tenant-move.js');
  for (let shown = ''; ; await wait(lookMs)) {
    if (!(await isMoveRunning(client, tenantId))) return;
    const progress = await readTenantMove(client, tenantId);
    const line = lineOf(progress);
    if (line !== shown) process.stderr.write(`${line}\n`);
    shown = line;
    if (progress.phase === 'moved' || progress.phase === 'removed') return;
  }
}

async function moveTenant(
  tenantId: string,
  cell: string | undefined,
  { grace, background, cancel }: MoveOptions,
): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { withTemporal } = await import('../start/temporal-access.js');
  const { requireTenant } = await import('../../access/tenants.js');
  const { requireCell } = await import('../../access/cells/tenant-cells.js');
  const { refuseDraining } = await import('../../access/cells/cells.js');
  const { cancelTenantMove, startTenantMove } = await import('../../flows/cells/tenant-move.js');
  if (cancel === true) {
    await withTemporal(({ client }) => cancelTenantMove(client, tenantId));
    process.stdout.write(`${tenantId} stays where it is, unless it has moved already\n`);
    return;
  }
  if (cell === undefined) throw new Error('Name the cell: durabill tenant move T CELL.');
  await withInstance(async ({ database }) => {
    await requireTenant(database.platform, tenantId);
    requireCell(database, cell);
    await refuseDraining(database.platform, cell);
  });
  await withTemporal(async (place) => {
    const isStarted = await startTenantMove(place, { tenantId, to: cell, graceMs: grace });
    if (!isStarted) {
      throw new Error(
        `A move of '${tenantId}' is under way, or what it left is still kept: wait until it has ended.`,
      );
    }
    if (background !== true) await followMove(place.client, tenantId);
  });
  process.stdout.write(background === true ? 'started\n' : `${tenantId} is in the cell ${cell}\n`);
}

/** `durabill tenant move` (docs/decisions/0362). */
export function registerMove(group: Command): void {
  group
    .command('move')
    .description('Move a tenant to another cell while it is used.')
    .argument('<id>', 'tenant')
    .argument('[cell]', "a cell of CELLS, or 'home'")
    .option(
      '--grace <duration>',
      'how long the rows that it leaves are kept',
      parseGrace,
      3_600_000,
    )
    .option('--background', 'do not wait until it has moved')
    .option('--cancel', 'take a move back that has not ended')
    .addHelpText(
      'after',
      `
The rows are copied by PostgreSQL's logical replication and compared; the tenant's requests are
answered 503 while the last ones follow and are compared. Until then whatever fails leaves the
tenant where it was. Workers need DATABASE_OWNER_URL and CELL_OWNERS.`,
    )
    .action(moveTenant);
}
