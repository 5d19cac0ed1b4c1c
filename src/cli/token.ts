import type { Command } from 'commander';
import { parseDuration, parseRoles } from './options.js';

interface TokenOptions {
  readonly tenant: string;
  readonly org?: string;
  readonly roles: string[];
  readonly expires: number;
  readonly subject: string;
}

async function printToken(options: TokenOptions): Promise<void> {
  const { withInstance } = await import('./instance.js');
  const { ensureTenant } = await import('../platform/tenants.js');
  const token = await withInstance(async ({ database, tokens }) => {
    await ensureTenant(database.platform, options.tenant);
    return tokens.issue({
      tenantId: options.tenant,
      orgId: options.org ?? null,
      roles: options.roles,
      subject: options.subject,
      expiresInSeconds: options.expires,
    });
  });
  process.stdout.write(`${token}\n`);
}

/** `durabill token`: prints one JWT (0-decisions.md section 5). */
export function registerToken(program: Command): void {
  program
    .command('token')
    .description('Print a token (JWT) for a tenant; the tenant is made when it is new.')
    .requiredOption('--tenant <id>', 'tenant that the token is for')
    .option('--org <id>', 'organization (claim morgId), needed to send usage')
    .option('--roles <names>', 'roles, with commas, such as ADMIN', parseRoles, [])
    .option('--expires <duration>', 'how long it is valid: 30s, 15m, 1h, 7d', parseDuration, 3_600)
    .option('--subject <name>', 'who it is for; the audit names it', 'command-line')
    .action(printToken);
}
