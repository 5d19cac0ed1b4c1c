import { Option, type Command } from 'commander';
import type { ImportOptions } from './import-run.js';

/** `durabill import`: customers, prices and past usage of another billing system. */
export function registerImport(program: Command): void {
  program
    .command('import')
    .description('Move in: customers, prices and past usage of another billing system.')
    .argument('<folder>', 'folder with the files of the other system; see the guide, Moving in')
    .requiredOption('--tenant <id>', 'tenant that gets them')
    .addOption(
      new Option('--from <system>', 'where they come from')
        .choices(['csv', 'lago', 'stripe'])
        .makeOptionMandatory(),
    )
    .option('--url <address>', 'API to send to; the running instance by default')
    .option('--dry-run', 'read and check all of it, and write nothing')
    .addHelpText(
      'after',
      `
A meter becomes a service with the attribute quantity; a price that all have is the list price, others
are exception prices of a contract. All is checked before anything is written. What is there already
stays as it is, and an event is rated once, so an import that broke off is started again. What cannot be
moved is named, and the exit code is 1.`,
    )
    .action(async (folder: string, options: ImportOptions) => {
      const { importFromTerminal } = await import('./import-run.js');
      await importFromTerminal(folder, options);
    });
}
