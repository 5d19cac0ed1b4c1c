import { randomBytes } from 'node:crypto';
import type { Config } from '../platform/config/config.js';
import { dataFile, readOrCreateSecret } from '../platform/data-folder.js';
import { StartupError } from '../platform/startup-error.js';
import { requireSession } from '../platform/database/direct-address.js';
import { listPendingMigrations, migrateDatabase } from '../platform/database/migrations.js';
import type { SecretBox } from '../platform/secret-box.js';
import { ensureLogin } from '../platform/database/service-role.js';
import { ensureSigningKey, listSigningKeys } from '../access/signing-keys.js';
import { ensureTenant } from '../access/tenants.js';
import { homeCell } from '../platform/database/cell.js';
import { openOwner } from '../platform/database/owner.js';
import { credentialsOf, nameCell, ownsTables } from './prepare-cells.js';

/**
 * The addresses of the database for its two logins: the owner of the tables, and the running
 * processes.
 */
export interface DatabaseUrls {
  /** Undefined: this process has only the login of running processes. */
  readonly owner: string | undefined;
  readonly login: string;
}

/**
 * The logins of a database. The embedded one has both: the owner's, and a login of running
 * processes, whose password is in the data folder. An external one may have a single login.
 */
export async function databaseUrlsOf(
  url: string,
  config: Pick<Config, 'databaseUrl' | 'databaseOwnerUrl' | 'directDatabaseUrl' | 'dataDir'>,
): Promise<DatabaseUrls> {
  if (config.databaseUrl === undefined) {
    const login = new URL(url);
    login.username = 'durabill_login';
    login.password = await readOrCreateSecret(dataFile.loginPassword(config.dataDir), () =>
      randomBytes(24).toString('base64url'),
    );
    return { owner: url, login: login.href };
  }
  const direct = config.directDatabaseUrl ?? url;
  if (config.directDatabaseUrl === undefined) await requireSession(url);
  const owner = config.databaseOwnerUrl ?? ((await ownsTables(direct)) ? direct : undefined);
  return { owner, login: url };
}

interface Preparation {
  /** Seals the first signing key. */
  readonly box: SecretBox;
  /** A tenant that must be there. */
  readonly tenant?: string | undefined;
  readonly onStep?: (name: string) => void;
}

/**
 * Runs the steps that need the owner of the tables: migrations, the login of running processes, the
 * first signing key. Safe to call from several processes at once. Returns the migrations that ran.
 */
async function prepareAsOwner(
  owner: string,
  login: string,
  { box, tenant, onStep }: Preparation,
): Promise<string[]> {
  const names = await migrateDatabase(owner, onStep);
  const db = openOwner(owner);
  try {
    const { name, password } = credentialsOf(login);
    if (name !== credentialsOf(owner).name) await ensureLogin(db, name, password);
    await nameCell(db, homeCell);
    if ((await listSigningKeys(db)).length === 0) await ensureSigningKey(db, box);
    if (tenant !== undefined) await ensureTenant(db, tenant);
  } finally {
    await db.destroy();
  }
  return names;
}

/**
 * Migrates the database to this version; with the login of running processes alone, only checks
 * that it is up to date.
 */
export async function prepareDatabase(
  { owner, login }: DatabaseUrls,
  preparation: Preparation,
): Promise<string[]> {
  if (owner !== undefined) return prepareAsOwner(owner, login, preparation);
  const pending = await listPendingMigrations(login);
  if (pending.length === 0) return [];
  throw new StartupError(
    `The database lacks ${pending.length} migrations, and the login of DATABASE_URL may not make ` +
      `them: run 'durabill migrate' with DATABASE_OWNER_URL first.`,
  );
}
