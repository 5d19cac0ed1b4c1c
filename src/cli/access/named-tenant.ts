import type { Knex } from 'knex';
import { ensureTenant, requireTenant } from '../../access/tenants.js';
import type { InstanceAccess } from '../start/instance.js';
import { recordCommand } from './security-event.js';

/** Makes the tenant where the command line asks for it; 404: there is none, and it does not ask. */
export async function admitTenant(
  db: Knex,
  tenantId: string,
  { createTenant }: { readonly createTenant?: true },
): Promise<void> {
  if (createTenant !== true) return requireTenant(db, tenantId);
  if (!(await ensureTenant(db, tenantId))) return;
  const entityKey = tenantId;
  await recordCommand(db, { tenantId, entity: 'tenant', entityKey, action: 'create' });
}

/** A token with which a command itself calls the API for a tenant. 404: there is no such tenant. */
export async function issueForCommand(
  { database, tokens }: Pick<InstanceAccess, 'database' | 'tokens'>,
  tenantId: string,
  given: {
    readonly orgId: string | null;
    readonly roles: readonly string[];
    readonly expiresInSeconds: number;
  },
): Promise<string> {
  await requireTenant(database.platform, tenantId);
  return tokens.issue({ tenantId, subject: 'command-line', ...given });
}
