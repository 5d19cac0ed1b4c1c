import { Option, type Command } from 'commander';
import type { ExportRunOptions } from './export-run.js';

/** `durabill export KIND`: writes all rows of a kind to a file, and says whether it has all. */
export function registerExport(program: Command): void {
  program
    .command('export')
    .description('Write all rows of a kind, as the running instance exports them.')
    .argument(
      '<kind>',
      'usage-events, rated-transactions, invoices, invoice-items, payments, wallet-entries, journal, corrections, audit or focus',
    )
    .addOption(
      new Option('--format <format>', 'how rows are written')
        .choices(['ndjson', 'csv', 'parquet'])
        .default('ndjson'),
    )
    .option('--from <time>', 'rows from this date or instant on (UTC)')
    .option('--to <time>', 'rows before this date or instant')
    .option('--account <id>', 'rows of this account, by its id, externalId or number')
    .option('--after <cursor>', 'rows behind the one with this cursor')
    .option('--out <file>', 'where to write; standard output by default')
    .option('--resume', 'go on behind the last whole row of the file; not with parquet')
    .option('--tenant <id>', 'tenant to export, when no token is given')
    .option('--token <token>', 'token or access key of the role READER, instead of --tenant')
    .option('--url <address>', 'API to ask; the running instance by default')
    .addHelpText(
      'after',
      `
How many rows there were, and how fast, is on standard error. The exit code is 1 where the export did
not end with all: start it again with --resume, and with the same options otherwise.`,
    )
    .action(async (kind: string, options: ExportRunOptions) => {
      const { runExport } = await import('./export-run.js');
      await runExport(kind, options);
    });
}
