import type { Client } from '@temporalio/client';
import { InvalidArgumentError, type Command } from 'commander';
import type { SchedulePlace } from '../../flows/billing/billing-schedule.js';
import type { ArchivedMonth, UsageArchive } from '../../messages/ageing/usage-archive.js';

interface MonthOption {
  readonly month: string;
}

interface MonthOptions extends MonthOption {
  readonly background?: true;
}

interface DropOptions extends MonthOptions {
  readonly allArchived?: true;
}

function parseMonth(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError('Use a month such as 2026-10.');
}

async function writeArchive(tenantId: string, options: MonthOptions): Promise<void> {
  const { startUsageArchive, waitForUsageArchive } =
    await import('../../flows/ageing/usage-archive.js');
  await runForTenant(tenantId, options, {
    start: startUsageArchive,
    end: waitForUsageArchive,
    done: 'is archived',
  });
}

async function restore(tenantId: string, options: MonthOptions): Promise<void> {
  const { startUsageRestore, waitForUsageRestore } =
    await import('../../flows/ageing/usage-archive.js');
  await runForTenant(tenantId, options, {
    start: startUsageRestore,
    end: waitForUsageRestore,
    done: 'is in the database again',
  });
}

interface MonthWork {
  readonly start: (place: SchedulePlace, month: UsageArchive) => Promise<boolean>;
  /** The number of rows. */
  readonly end: (client: Client, month: UsageArchive) => Promise<number>;
  readonly done: string;
}

async function runForTenant(
  tenantId: string,
  { month, background }: MonthOptions,
  { start, end, done }: MonthWork,
): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { withTemporal } = await import('../start/temporal-access.js');
  const { requireTenant } = await import('../../access/tenants.js');
  await withInstance(({ database }) => requireTenant(database.platform, tenantId));
  await withTemporal(async (place) => {
    const isStarted = await start(place, { tenantId, month });
    if (!isStarted) process.stderr.write('it is under way\n');
    if (background === true) return;
    const rows = await end(place.client, { tenantId, month });
    process.stdout.write(`${month} ${done}: ${rows} rows\n`);
  });
}

/** Drops a month of the tenants, or of all whose month is archived. */
async function drop(
  tenants: string[],
  { month, allArchived, background }: DropOptions,
): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { withTemporal } = await import('../start/temporal-access.js');
  const { requireTenant } = await import('../../access/tenants.js');
  const { listDroppableTenants } = await import('../../models/ageing/usage-drop.js');
  const { startUsageDrop, waitForUsageDrop } = await import('../../flows/ageing/usage-archive.js');
  const { dropTenantsMax } = await import('../../messages/ageing/usage-drop.js');
  const named = await withInstance(async ({ database }) => {
    if (allArchived === true) return listDroppableTenants(database.platform, month);
    for (const tenant of tenants) await requireTenant(database.platform, tenant);
    return tenants;
  });
  const [tenantId] = named;
  if (tenantId === undefined) throw new Error(`Name tenants; none has an archive of ${month}.`);
  if (named.length > dropTenantsMax) {
    throw new Error(`These are ${named.length} tenants; name ${dropTenantsMax} at most.`);
  }
  await withTemporal(async (place) => {
    const asked = { tenantId, tenants: named, month };
    const isStarted = await startUsageDrop(place, asked);
    if (!isStarted) process.stderr.write('it is under way\n');
    if (background === true) return;
    const { compared, kept, freedBytes } = await waitForUsageDrop(place.client, asked);
    process.stdout.write(
      `${month} is dropped for ${named.join(', ')}: ${compared} rows are in the archive alone, ${kept} of others and rejected ones stay, ${freedBytes} bytes are free\n`,
    );
  });
}

const lineOf = (known: ArchivedMonth): string => {
  const { month, state, events, charges, bytes, difference, isDropped } = known;
  const shown = isDropped ? `${state}, dropped` : state;
  return [month, shown, events, charges, bytes, ...(difference === null ? [] : [difference])].join(
    '\t',
  );
};

async function listMonths(tenantId: string): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { requireTenant } = await import('../../access/tenants.js');
  const { listArchiveMonths } = await import('../../models/ageing/usage-archive.js');
  await withInstance(async ({ database }) => {
    await requireTenant(database.platform, tenantId);
    const trail = { actor: 'command-line', requestId: 'command-line' };
    const { read } = database.forTenant(tenantId, trail);
    for (const month of await listArchiveMonths(read, tenantId)) {
      process.stdout.write(`${lineOf(month)}\n`);
    }
  });
}

async function verify(tenantId: string, { month }: MonthOption): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { requireTenant } = await import('../../access/tenants.js');
  const { loadConfig } = await import('../../platform/config/config.js');
  const { openArchive } = await import('../../process/open-archive.js');
  const { openParquetWriter } = await import('../../adapters/parquet/parquet-writer.js');
  const { verifyArchive } = await import('../../commands/ageing/archive-usage.js');
  const parquet = openParquetWriter();
  const files = openArchive(loadConfig().archive, parquet);
  if (files === undefined) throw new Error('There is no place for archives: set ARCHIVE_URL.');
  try {
    await withInstance(async ({ database }) => {
      await requireTenant(database.platform, tenantId);
      const trail = { actor: 'command-line', requestId: 'command-line' };
      const db = database.forTenant(tenantId, trail, 'batch');
      const scope = { tenantId, db, now: () => new Date() };
      const difference = await verifyArchive(scope, files, { tenantId, month });
      if (difference !== null) throw new Error(`The archive of ${month} differs: ${difference}.`);
    });
  } finally {
    await files.close();
    await parquet.close();
  }
  process.stdout.write(`${month}: every row is as it is in the database, or was there\n`);
}

/** `durabill archive` (docs/decisions/0345). */
export function registerArchive(program: Command): void {
  const group = program
    .command('archive')
    .description(
      'Archive usage of past months as Parquet, where ARCHIVE_URL says, and drop it here.',
    );
  group
    .command('write')
    .description('Archive a month of a tenant; what is there and right stays.')
    .argument('<tenant>', 'tenant')
    .requiredOption('--month <month>', 'the month of receipt, such as 2026-10', parseMonth)
    .option('--background', 'do not wait until it is archived')
    .action(writeArchive);
  group
    .command('list')
    .description('Show months with their state, events, charges and bytes.')
    .argument('<tenant>', 'tenant')
    .action(listMonths);
  group
    .command('verify')
    .description('Read an archive back and compare it with the database, row by row.')
    .argument('<tenant>', 'tenant')
    .requiredOption('--month <month>', 'the month of receipt, such as 2026-10', parseMonth)
    .action(verify);
  group
    .command('drop')
    .description(
      'Remove an archived month of tenants from the database, once each row was compared with the archive.',
    )
    .argument('[tenants...]', 'tenants of one cell')
    .requiredOption('--month <month>', 'the month of receipt, such as 2026-10', parseMonth)
    .option('--all-archived', 'all tenants whose month is archived')
    .option('--background', 'do not wait until it is dropped')
    .action(drop);
  group
    .command('restore')
    .description('Bring a dropped month of a tenant back into the database.')
    .argument('<tenant>', 'tenant')
    .requiredOption('--month <month>', 'the month of receipt, such as 2026-10', parseMonth)
    .option('--background', 'do not wait until it is there')
    .action(restore);
}
