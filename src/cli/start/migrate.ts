import { Option, type Command } from 'commander';
import type { Config } from '../../platform/config/config.js';
import type { PreparedCell } from '../../process/prepare-cells.js';

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
  const { prepareCells, requireKnownCells } = await import('../../process/prepare-cells.js');
  const { readSecretKeys, secretBox } = await import('../../platform/secret-box.js');
  const secretKey =
    config.secretKey ?? (await readOrCreateSecret(dataFile.secretKey(config.dataDir)));
  const { secret, previousSecrets } = readSecretKeys(secretKey);
  const print = (name: string): void => void process.stdout.write(`${name}\n`);
  const urls = await databaseUrlsOf(databaseUrl, config);
  const names = await prepareDatabase(urls, {
    box: secretBox(secret, previousSecrets),
    onStep: print,
  });
  await requireKnownCells(urls.owner ?? urls.login, config.cells);
  const cells = await prepareCells(config.cells, print);
  const count = cells.reduce((sum, { migrations }) => sum + migrations.length, names.length);
  process.stdout.write(count === 0 ? 'up to date\n' : `${count} applied\n`);
  refuseAway(cells);
}

/** A cell that does not answer is not migrated: that must not be missed. */
function refuseAway(cells: readonly PreparedCell[]): void {
  for (const { name, absence } of cells) {
    if (absence === undefined) continue;
    process.stderr.write(`the cell '${name}' does not answer (${absence}): run this again\n`);
    process.exitCode = 1;
  }
}

async function showPending(): Promise<void> {
  const { config, ownerUrl } = await externalDatabase();
  const { listPendingMigrations } = await import('../../platform/database/migrations.js');
  const { listPendingOfCells } = await import('../../process/prepare-cells.js');
  const names = [...(await listPendingMigrations(ownerUrl))];
  const cells = await listPendingOfCells(config.cells);
  for (const { name, migrations } of cells) {
    names.push(...migrations.map((migration) => `${name}: ${migration}`));
  }
  for (const name of names) process.stdout.write(`${name}\n`);
  process.stdout.write(names.length === 0 ? 'up to date\n' : `${names.length} pending\n`);
  if (names.length > 0) process.exitCode = 1;
  refuseAway(cells);
}

/** Takes back the last migration in all cells that have it last; all must answer. */
async function rollback(): Promise<void> {
  const { config, ownerUrl } = await externalDatabase();
  const { rollbackCells } = await import('../../process/prepare-cells.js');
  const { names, home } = await rollbackCells(config.cells, ownerUrl);
  for (const name of names) process.stdout.write(`${name}\n`);
  process.stdout.write(home === undefined ? 'nothing to take back\n' : `${home}\ntaken back\n`);
}

function migrate({ check, rollback: isRollback }: Options): Promise<void> {
  if (check) return showPending();
  return isRollback ? rollback() : applyPending();
}

/** `durabill migrate`: what only the owner of the tables may do, before processes start. */
export function registerMigrate(program: Command): void {
  program
    .command('migrate')
    .description(
      'Bring the databases of DATABASE_URL and CELLS to this version, and make their logins.',
    )
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
the password that is there; it can read and write what running processes need and nothing else.
CELL_OWNERS has the owners of the cells. Each database is migrated by itself, the home database
first; one that does not answer is named, and the command ends with 1.`,
    )
    .action(migrate);
}
