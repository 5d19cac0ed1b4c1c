import type { Command } from 'commander';
import { parseRoles } from './options.js';

interface CreateOptions {
  readonly tenant: string;
  readonly org?: string;
  readonly roles: string[];
  readonly name?: string;
}

async function createKey({ tenant, org, roles, name }: CreateOptions): Promise<void> {
  const { withInstance } = await import('./instance.js');
  const { ensureTenant } = await import('../platform/tenants.js');
  const { createAccessKey } = await import('../platform/access-keys.js');
  const key = await withInstance(async ({ database }) => {
    await ensureTenant(database.platform, tenant);
    const request = { tenantId: tenant, orgId: org ?? null, roles, name: name ?? null };
    return createAccessKey(database.platform, request);
  });
  process.stdout.write(`${key}\n`);
  process.stderr.write('This is the only time that the key is shown.\n');
}

async function listKeys({ tenant }: { tenant: string }): Promise<void> {
  const { withInstance } = await import('./instance.js');
  const { listAccessKeys } = await import('../platform/access-keys.js');
  const keys = await withInstance(({ database }) => listAccessKeys(database.platform, tenant));
  for (const key of keys) {
    const state = key.revokedAt ? `revoked ${key.revokedAt.toISOString()}` : 'valid';
    const cells = [key.id, key.name ?? '-', key.roles.join(',') || '-', key.orgId ?? '-', state];
    process.stdout.write(`${cells.join('\t')}\n`);
  }
}

async function revokeKey(id: string): Promise<void> {
  const { withInstance } = await import('./instance.js');
  const { revokeAccessKey } = await import('../platform/access-keys.js');
  const isRevoked = await withInstance(({ database }) => revokeAccessKey(database.platform, id));
  if (!isRevoked) throw new Error(`There is no valid access key '${id}'.`);
  process.stdout.write(`revoked ${id}; it stops working within five seconds\n`);
}

/** `durabill access-key create|list|revoke` (0-decisions.md section 6, "Operations"). */
export function registerAccessKey(program: Command): void {
  const group = program.command('access-key').description('Make, list and revoke access keys.');
  group
    .command('create')
    .description('Make an access key and print it once.')
    .requiredOption('--tenant <id>', 'tenant that the key is for')
    .option('--org <id>', 'organization, needed to send usage')
    .option('--roles <names>', 'roles, with commas, such as ADMIN', parseRoles, [])
    .option('--name <text>', 'what the key is for')
    .action(createKey);
  group
    .command('list')
    .description('List the keys of a tenant: id, name, roles, organization, state.')
    .requiredOption('--tenant <id>', 'tenant whose keys to list')
    .action(listKeys);
  group
    .command('revoke')
    .description('Revoke a key for good.')
    .argument('<id>', 'id of the key, as list shows it')
    .action(revokeKey);
}
