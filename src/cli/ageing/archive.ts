import { InvalidArgumentError, type Command } from 'commander';
import type { ArchivedMonth } from '../../messages/ageing/usage-archive.js';

interface MonthOption {
  readonly month: string;
}

function parseMonth(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError('Use a month such as 2026-10.');
}

async function write(
  tenantId: string,
  { month, background }: MonthOption & { readonly background?: true },
): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { withTemporal } = await import('../start/temporal-access.js');
  const { requireTenant } = await import('../../access/tenants.js');
  const { startUsageArchive, waitForUsageArchive } =
    await import('../../flows/usage/usage-archive.js');
  await withInstance(({ database }) => requireTenant(database.platform, tenantId));
  await withTemporal(async (place) => {
    const isStarted = await startUsageArchive(place, { tenantId, month });
    if (!isStarted) process.stderr.write('it is under way\n');
    if (background === true) return;
    const rows = await waitForUsageArchive(place.client, { tenantId, month });
    process.stdout.write(`${month} is archived: ${rows} rows\n`);
  });
}

const lineOf = ({ month, state, events, charges, bytes, difference }: ArchivedMonth): string =>
  [month, state, events, charges, bytes, ...(difference === null ? [] : [difference])].join('\t');

async function list(tenantId: string): Promise<void> {
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
  process.stdout.write(`${month}: every row is as it is in the database\n`);
}

/** `durabill archive` (docs/decisions/0345). */
export function registerArchive(program: Command): void {
  const group = program
    .command('archive')
    .description('Archive usage of past months as Parquet, where ARCHIVE_URL says.');
  group
    .command('write')
    .description('Archive a month of a tenant; what is there and right stays.')
    .argument('<tenant>', 'tenant')
    .requiredOption('--month <month>', 'the month of receipt, such as 2026-10', parseMonth)
    .option('--background', 'do not wait until it is archived')
    .action(write);
  group
    .command('list')
    .description('Show months with their state, events, charges and bytes.')
    .argument('<tenant>', 'tenant')
    .action(list);
  group
    .command('verify')
    .description('Read an archive back and compare it with the database, row by row.')
    .argument('<tenant>', 'tenant')
    .requiredOption('--month <month>', 'the month of receipt, such as 2026-10', parseMonth)
    .action(verify);
}
