import { Option, type Command } from 'commander';
import type { Config } from '../../platform/config/config.js';

interface Options {
  readonly check?: true;
  readonly rollback?: true;
}

/** The configuration of a database that is not the embedded one. */
async function externalDatabase(): Promise<{
  config: Config;
  databaseUrl: string;
  /** Where migrations are read and run. */
  ownerUrl: string;
}> {
  const { loadConfig } = await import('../../platform/config/config.js');
  const { StartupError } = await import('../../platform/startup-error.js');
  const config = loadConfig();
  const { databaseUrl } = config;
  if (databaseUrl === undefined) {
    throw new StartupError(
      "DATABASE_URL is not set: the embedded database is migrated by 'npm start'.",
    );
  }
  const ownerUrl = config.databaseOwnerUrl ?? config.directDatabaseUrl ?? databaseUrl;
  return { config, databaseUrl, ownerUrl };
}

async function applyPending(): Promise<void> {
  const { config, databaseUrl } = await externalDatabase();
  const { dataFile, readOrCreateSecret } = await import('../../platform/data-folder.js');
  const { databaseUrlsOf, prepareDatabase } = await import('../../process/prepare-database.js');
  const { readSecretKeys, secretBox } = await import('../../platform/secret-box.js');
  const secretKey =
    config.secretKey ?? (await readOrCreateSecret(dataFile.secretKey(config.dataDir)));
  const { secret, previousSecrets } = readSecretKeys(secretKey);
  const names = await prepareDatabase(await databaseUrlsOf(databaseUrl, config), {
    box: secretBox(secret, previousSecrets),
    onStep: (name) => process.stdout.write(`${name}\n`),
  });
  process.stdout.write(names.length === 0 ? 'up to date\n' : `${names.length} applied\n`);
}

async function showPending(): Promise<void> {
  const { ownerUrl } = await externalDatabase();
  const { listPendingMigrations } = await import('../../platform/database/migrations.js');
  const names = await listPendingMigrations(ownerUrl);
  for (const name of names) process.stdout.write(`${name}\n`);
  process.stdout.write(names.length === 0 ? 'up to date\n' : `${names.length} pending\n`);
  if (names.length > 0) process.exitCode = 1;
}

async function rollback(): Promise<void> {
  const { ownerUrl } = await externalDatabase();
  const { rollbackDatabase } = await import('../../platform/database/migrations.js');
  const name = await rollbackDatabase(ownerUrl);
  process.stdout.write(name === undefined ? 'nothing to take back\n' : `${name}\ntaken back\n`);
}

function migrate({ check, rollback: isRollback }: Options): Promise<void> {
  if (check) return showPending();
  return isRollback ? rollback() : applyPending();
}

/** `durabill migrate`: what only the owner of the tables may do, before processes start. */
export function registerMigrate(program: Command): void {
  program
    .command('migrate')
    .description('Bring the database of DATABASE_URL to this version, and make its login.')
    .addOption(
      new Option(
        '--check',
        'change nothing; list what is pending, and exit with 1 if there is any',
      ),
    )
    .addOption(
      new Option(
        '--rollback',
        'take back the migration that ran last, with what was written into what it made',
      ).conflicts('check'),
    )
    .addHelpText(
      'after',
      `
DATABASE_OWNER_URL is the owner of the tables. The login that DATABASE_URL names is made, or given
the password that is there; it can read and write what running processes need and nothing else.`,
    )
    .action(migrate);
}
