import type { Command } from 'commander';

const pageSize = 200;

async function printGrants({ tenant }: { tenant: string }): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { listGrants } = await import('../../access/oauth/grant-list.js');
  const { requireTenant } = await import('../../access/tenants.js');
  await withInstance(async ({ database }) => {
    await requireTenant(database.platform, tenant);
    for (let offset = 0; ; offset += pageSize) {
      const page = { limit: pageSize, offset };
      const { items } = await listGrants(database.platform, tenant, page);
      for (const grant of items) {
        const end = grant.revokedAt
          ? `revoked ${grant.revokedAt.toISOString()}`
          : `until ${grant.expiresAt.toISOString()}`;
        const client = grant.clientName ?? grant.clientId;
        const cells = [
          grant.id,
          JSON.stringify(client),
          grant.subject,
          grant.scopes.join(' '),
          end,
        ];
        process.stdout.write(`${cells.join('\t')}\n`);
      }
      if (items.length < pageSize) return;
    }
  });
}

async function revoke(id: string): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { isUuid } = await import('../../kernel/id.js');
  const { findGrantTenant } = await import('../../access/oauth/grant-list.js');
  const { revokeGrant } = await import('../../access/oauth/grants.js');
  const { recordCommand } = await import('./security-event.js');
  const isRevoked = await withInstance(({ database }) =>
    database.platform.transaction(async (trx) => {
      const tenantId = isUuid(id) ? await findGrantTenant(trx, id) : undefined;
      if (tenantId === undefined) throw new Error(`There is no grant '${id}'.`);
      if (!(await revokeGrant(trx, id, new Date(), 'by the command line'))) return false;
      await recordCommand(trx, { tenantId, entity: 'oauthGrant', entityKey: id, action: 'revoke' });
      return true;
    }),
  );
  if (!isRevoked) throw new Error(`The grant '${id}' was revoked before.`);
  process.stdout.write(`revoked ${id}; its tokens are refused from now on\n`);
}

/** `durabill grant list|revoke`: what users allowed OAuth clients. */
export function registerGrant(program: Command): void {
  const group = program
    .command('grant')
    .description('List and revoke what users allowed OAuth clients.');
  group
    .command('list')
    .description('List the grants of a tenant: id, client, who allowed it, scopes, end.')
    .requiredOption('--tenant <id>', 'tenant whose grants to list')
    .action(printGrants);
  group
    .command('revoke')
    .description('Revoke a grant with all tokens that came of it.')
    .argument('<id>', 'its id, as list shows it')
    .action(revoke);
}
