import { sqlState, sqlStateOf } from '../../kernel/sql-state.js';
import { loadConfig, type Config } from '../../platform/config/config.js';
import { openDatabase, type Database } from '../../platform/database/database.js';
import { dataFile, readOrCreateSecret } from '../../platform/data-folder.js';
import { StartupError } from '../../platform/startup-error.js';
import { readSecretKeys, secretBox, type SecretBox } from '../../platform/secret-box.js';
import { areServersConfigured } from '../../platform/configured-servers.js';
import { readInstance } from './embedded-parts.js';
import { tenantCellFinder } from '../../access/cells/tenant-cells.js';
import { openTokenKeys, type TokenKeys } from '../../access/tokens.js';

const notRunning = (dataDir: string): StartupError =>
  new StartupError(
    `Durabill is not running on ${dataDir}: start it with 'npm start', or set DATABASE_URL.`,
  );

async function runningInstance(config: Config) {
  if (areServersConfigured(config)) return undefined;
  const instance = await readInstance(config.dataDir);
  return instance?.state === 'ready' && instance.isRunning ? instance : undefined;
}

/** The part of the configured instance that commands use. */
export interface InstanceAccess {
  readonly config: Config;
  readonly database: Database;
  readonly tokens: TokenKeys;
  readonly secrets: SecretBox;
}

/** Runs the work on the database of the running instance; closes the connections afterwards. */
export async function withInstance<T>(work: (access: InstanceAccess) => Promise<T>): Promise<T> {
  const config = loadConfig();
  const databaseUrl =
    config.databaseOwnerUrl ?? config.databaseUrl ?? (await runningInstance(config))?.databaseUrl;
  if (databaseUrl === undefined || databaseUrl === null) throw notRunning(config.dataDir);
  const secretKey =
    config.secretKey ?? (await readOrCreateSecret(dataFile.secretKey(config.dataDir)));
  const cells = config.cells.map(({ name, url, ownerUrl }) => ({ name, url: ownerUrl ?? url }));
  const database = openDatabase(databaseUrl, 2, { cells, findCell: tenantCellFinder });
  try {
    const { secret, previousSecrets } = readSecretKeys(secretKey);
    const secrets = secretBox(secret, previousSecrets);
    const tokens = await openTokenKeys(database.platform, secrets, config.publicUrl, {
      lifeMaxSeconds: config.tokenLifeMaxSeconds,
    });
    return await work({ config, database, tokens, secrets });
  } catch (error) {
    throw explain(error);
  } finally {
    await database.close();
  }
}

function explain(error: unknown): unknown {
  const code = sqlStateOf(error);
  if (code === 'ECONNREFUSED') return new StartupError('The database does not answer.');
  if (code === sqlState.unknownTable || code === sqlState.unknownFunction) {
    return new StartupError(
      "The database is not ready yet: start Durabill once with 'npm start', or run 'durabill migrate'.",
    );
  }
  return error;
}

/** Addresses of the running instance, for links and requests. */
export async function instanceAddresses(): Promise<{
  apiUrl: string;
  temporalUiUrl: string | null;
}> {
  const config = loadConfig();
  const instance = await runningInstance(config);
  const apiUrl = instance?.apiUrl ?? (config.databaseUrl === undefined ? null : config.publicUrl);
  if (apiUrl === null) throw notRunning(config.dataDir);
  return { apiUrl, temporalUiUrl: instance?.temporalUiUrl ?? null };
}
