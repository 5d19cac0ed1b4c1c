import { setFlagsFromString } from 'node:v8';
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
      // The flag of `npm start` is for this thread, which has begun with it (docs/decisions/0003);
      // threads that begin from now on would each hold as much (docs/decisions/0332).
      setFlagsFromString('--max-semi-space-size=16');
      const { loadConfig } = await import('../../platform/config/config.js');
      const config = loadConfig({ PORT: port, HOST: host, DATA_DIR: dataDir, ROLE: role });
      const { runStart } = await import('./start-run.js');
      await runStart(config);
    });
}
