import { Option, type Command } from 'commander';
import { variablesHelp } from '../variables.js';

interface StartOptions {
  port?: string;
  host?: string;
  dataDir?: string;
  role?: string;
}

export function registerStart(program: Command): void {
  program
    .command('start')
    .description('Start Durabill, with PostgreSQL and Temporal embedded where none is configured')
    .option('-p, --port <port>', 'port of the API (PORT, 3000)')
    .option('--host <address>', 'address to listen on (HOST, 127.0.0.1)')
    .option('-d, --data-dir <folder>', 'folder of the embedded servers (DATA_DIR, ./.durabill)')
    .addOption(
      new Option('--role <role>', 'what this process does (ROLE, all): all, api or worker'),
    )
    .addHelpText('after', variablesHelp)
    .action(async ({ port, host, dataDir, role }: StartOptions) => {
      const { loadConfig } = await import('../../platform/config/config.js');
      const config = loadConfig({ PORT: port, HOST: host, DATA_DIR: dataDir, ROLE: role });
      const { runStart } = await import('./start-run.js');
      await runStart(config);
    });
}
