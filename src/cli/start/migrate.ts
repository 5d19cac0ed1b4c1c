import type { Command } from 'commander';

async function migrate(): Promise<void> {
  const { loadConfig } = await import('../../platform/config/config.js');
  const { StartupError } = await import('../../platform/startup-error.js');
  const { dataFile, readOrCreateSecret } = await import('../../platform/data-folder.js');
  const { databaseUrlsOf, prepareDatabase } = await import('../../process/prepare-database.js');
  const { readSecretKeys, secretBox } = await import('../../platform/secret-box.js');
  const config = loadConfig();
  const { databaseUrl, dataDir } = config;
  if (databaseUrl === undefined) {
    throw new StartupError(
      "DATABASE_URL is not set: the embedded database is migrated by 'npm start'.",
    );
  }
  const secretKey = config.secretKey ?? (await readOrCreateSecret(dataFile.secretKey(dataDir)));
  const { secret, previousSecrets } = readSecretKeys(secretKey);
  const names = await prepareDatabase(await databaseUrlsOf(databaseUrl, config), {
    box: secretBox(secret, previousSecrets),
    onStep: (name) => process.stdout.write(`${name}\n`),
  });
  process.stdout.write(names.length === 0 ? 'up to date\n' : `${names.length} applied\n`);
}

/** `durabill migrate`: what only the owner of the tables may do, before processes start. */
export function registerMigrate(program: Command): void {
  program
    .command('migrate')
    .description('Bring the database of DATABASE_URL to this version, and make its login.')
    .addHelpText(
      'after',
      `
DATABASE_OWNER_URL is the owner of the tables. The login that DATABASE_URL names is made, or given
the password that is there; it can read and write what running processes need and nothing else.`,
    )
    .action(migrate);
}
