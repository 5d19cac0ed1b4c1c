import { Option, type Command } from 'commander';
import { parseDuration, parseRoles } from '../options.js';

interface TokenOptions {
  readonly tenant?: string;
  readonly org?: string;
  readonly roles: string[];
  readonly expires: number;
  readonly subject: string;
  readonly createTenant?: true;
}

async function printToken(options: TokenOptions, command: Command): Promise<void> {
  const { tenant: tenantId, roles, subject, expires: expiresInSeconds } = options;
  // Not a required option: those of a command are demanded of its subcommands, too.
  if (tenantId === undefined) command.error("error: required option '--tenant <id>' not specified");
  const { withInstance } = await import('../start/instance.js');
  const { decodeJwt } = await import('jose');
  const { recordCommand } = await import('./security-event.js');
  const { admitTenant } = await import('./named-tenant.js');
  const token = await withInstance(async ({ database, tokens }) => {
    const orgId = options.org ?? null;
    await admitTenant(database.platform, tenantId, options);
    const issued = await tokens.issue({ tenantId, orgId, roles, subject, expiresInSeconds });
    const { jti = null } = decodeJwt(issued);
    await recordCommand(database.platform, {
      tenantId,
      entity: 'accessToken',
      entityKey: jti,
      action: 'issue',
      details: { subject, roles, orgId, expiresInSeconds },
    });
    return issued;
  });
  process.stdout.write(`${token}\n`);
}

/** The `jti` and tenant of what is to be revoked: of a token that this instance signed, or as given. */
async function readTarget(text: string, tenant: string | undefined) {
  const { isUuid } = await import('../../kernel/id.js');
  if (isUuid(text)) return { jti: text.toLowerCase(), tenantId: tenant ?? '*' };
  const { decodeJwt } = await import('jose');
  try {
    const { jti, tenantId } = decodeJwt(text.trim());
    if (typeof jti === 'string' && typeof tenantId === 'string') return { jti, tenantId };
  } catch {
    // Said below.
  }
  throw new Error('Give a token, or the id of one: its claim jti, which is a UUID.');
}

async function revoke(target: string, { tenant }: { tenant?: string }): Promise<void> {
  const { withInstance } = await import('../start/instance.js');
  const { recordCommand } = await import('./security-event.js');
  const { revokeTokenById } = await import('../../access/token-revocations.js');
  const { requireTenant } = await import('../../access/tenants.js');
  const { jti, tenantId } = await readTarget(target, tenant);
  await withInstance(({ database }) =>
    database.platform.transaction(async (trx) => {
      if (tenant !== undefined) await requireTenant(trx, tenant);
      const revokedBy = 'command-line';
      await revokeTokenById(trx, { tenantId, jti, revokedBy, revokedAt: new Date() });
      await recordCommand(trx, {
        tenantId: tenantId === '*' ? null : tenantId,
        entity: 'accessToken',
        entityKey: jti,
        action: 'revoke',
      });
    }),
  );
  process.stdout.write(`revoked ${jti}; it is refused within ten seconds\n`);
}

/** `durabill token`: prints one JWT; `durabill token revoke` ends one. */
export function registerToken(program: Command): void {
  const group = program
    .command('token')
    .description('Print a token (JWT) for a tenant.')
    .option('--tenant <id>', 'tenant that the token is for; required')
    .option('--org <id>', 'organization (claim morgId), needed to send usage')
    .option('--roles <names>', 'roles, with commas: READER, OPERATOR, ADMIN', parseRoles, [])
    .addOption(
      new Option(
        '--expires <duration>',
        'how long it is valid: 30s, 15m, 1h, 7d; at most TOKEN_LIFE_MAX',
      )
        .argParser(parseDuration)
        .default(3_600, '1h'),
    )
    .option('--create-tenant', 'make the tenant when there is none of this id')
    .option('--subject <name>', 'who it is for; the audit names it', 'command-line')
    .action(printToken);
  group
    .command('revoke')
    .description('Revoke a token before its end.')
    .argument('<token>', 'the token, or its id (claim jti)')
    .action((target: string, _options: object, command: Command) =>
      revoke(target, command.optsWithGlobals<{ tenant?: string }>()),
    );
}
