import type { Command } from 'commander';
import type { AccessKey } from '../../access/access-keys.js';
import { parseDuration, parseRoles } from '../options.js';

interface CreateOptions {
  readonly tenant: string;
  readonly org?: string;
  readonly roles: string[];
  readonly name?: string;
  readonly expires?: number;
  readonly createTenant?: true;
}

async function createKey(options: CreateOptions): Promise<void> {
  const { tenant, org, roles, name, expires } = options;
  const { withInstance } = await import('../start/instance.js');
  const { admitTenant } = await import('./named-tenant.js');
  const { accessKeyId, createAccessKey } = await import('../../access/access-keys.js');
  const { commandLine, recordCommand } = await import('./security-event.js');
  const key = await withInstance(({ database }) =>
    database.platform.transaction(async (trx) => {
      await admitTenant(trx, tenant, options);
      const expiresAt = expires === undefined ? null : new Date(Date.now() + expires * 1000);
      const request = { tenantId: tenant, orgId: org ?? null, roles, name: name ?? null };
      const made = await createAccessKey(trx, { ...request, expiresAt, madeBy: commandLine });
      await recordCommand(trx, {
        tenantId: tenant,
        entity: 'accessKey',
        entityKey: accessKeyId(made),
        action: 'create',
        details: { roles, orgId: request.orgId, name, expiresAt },
      });
      return made;
    }),
  );
  process.stdout.write(`${key}\n`);
  process.stderr.write('This is the only time that the key is shown.\n');
}

function stateOf({ revokedAt, expiresAt }: AccessKey): string {
  if (revokedAt) return `revoked ${revokedAt.toISOString()}`;
  if (expiresAt === null) return 'valid';
  return `${expiresAt > new Date() ? 'valid until' : 'expired'} ${expiresAt.toISOString()}`;
}

async function listKeys({ tenant }: { tenant: string }): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { listAccessKeys } = await import('../../access/access-keys.js');
  const { requireTenant } = await import('../../access/tenants.js');
  const keys = await withInstance(async ({ database }) => {
    await requireTenant(database.platform, tenant);
    return listAccessKeys(database.platform, tenant);
  });
  for (const key of keys) {
    const used = key.usedAt === null ? 'never used' : `used ${key.usedAt.toISOString()}`;
    const of = [key.id, key.name ?? '-', key.roles.join(',') || '-', key.orgId ?? '-'];
    process.stdout.write(`${[...of, stateOf(key), used].join('\t')}\n`);
  }
}

async function revokeKey(id: string): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { revokeAccessKey } = await import('../../access/access-keys.js');
  const { recordCommand } = await import('./security-event.js');
  await withInstance(({ database }) =>
    database.platform.transaction(async (trx) => {
      const tenantId = await revokeAccessKey(trx, id);
      if (tenantId === undefined) throw new Error(`There is no valid access key '${id}'.`);
      await recordCommand(trx, { tenantId, entity: 'accessKey', entityKey: id, action: 'revoke' });
    }),
  );
  process.stdout.write(`revoked ${id}; it stops working within five seconds\n`);
}

/** `durabill access-key create|list|revoke`. */
export function registerAccessKey(program: Command): void {
  const group = program.command('access-key').description('Make, list and revoke access keys.');
  group
    .command('create')
    .description('Make an access key and print it once.')
    .requiredOption('--tenant <id>', 'tenant that the key is for')
    .option('--org <id>', 'organization, needed to send usage')
    .option('--roles <names>', 'roles, with commas: READER, OPERATOR, ADMIN', parseRoles, [])
    .option('--name <text>', 'what the key is for')
    .option(
      '--expires <duration>',
      'when it ends: 12h, 90d; without it, when revoked',
      parseDuration,
    )
    .option('--create-tenant', 'make the tenant when there is none of this id')
    .action(createKey);
  group
    .command('list')
    .description('List the keys of a tenant: id, name, roles, organization, state, last use.')
    .requiredOption('--tenant <id>', 'tenant whose keys to list')
    .action(listKeys);
  group
    .command('revoke')
    .description('Revoke a key for good.')
    .argument('<id>', 'id of the key, as list shows it')
    .action(revokeKey);
}
