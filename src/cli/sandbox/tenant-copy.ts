import { randomUUID } from 'node:crypto';
import { InvalidArgumentError, type Command } from 'commander';
import type { Scope } from '../../kernel/scope.js';
import type { Database } from '../../platform/database/database.js';

interface CopyOptions {
  readonly sandbox?: boolean;
  readonly usageFrom?: string;
}

/** The scope in which a command works for a tenant, at one instant of its time. */
function scopeOf(
  database: Database,
  tenantId: string,
  actor: string,
  { at, realAt }: { readonly at: Date; readonly realAt: Date },
): Scope {
  const requestId = randomUUID();
  const db = database.forTenant(tenantId, { actor, requestId }, 'batch');
  const now = () => at;
  return { tenantId, orgId: null, roles: [], actor, requestId, db, now, realNow: () => realAt };
}

async function copyTenant(
  source: string,
  target: string,
  { sandbox = false, usageFrom }: CopyOptions,
): Promise<void> {
  if (!sandbox) throw new Error('A copy is a sandbox: say so with --sandbox.');
  const { withInstance } = await import('../start/instance.js');
  const { requireTenant, resumeTenant, suspendTenant } = await import('../../access/tenants.js');
  const { readTenantClock } = await import('../../models/sandbox/sandbox-clock.js');
  const { ensureTenantIn } = await import('../../access/cells/tenant-cells.js');
  const { commandLine, recordCommand } = await import('../access/security-event.js');
  const { copyRecords } = await import('../../commands/sandbox/copy-records.js');
  const { checkUsageStart, copyUsage, findLastEvent, requireUsageSince } =
    await import('../../commands/sandbox/copy-usage.js');
  const copied = await withInstance(async ({ database }) => {
    await requireTenant(database.platform, source);
    const realAt = new Date();
    const cell = await database.cellOf(source);
    // What is copied of a sandbox has happened by the time at which that stands.
    const at = (await readTenantClock(cell.platform, source))?.standsAt ?? realAt;
    const from = scopeOf(database, source, commandLine, { at, realAt });
    if (usageFrom !== undefined) await checkUsageStart(from, usageFrom);
    await requireUsageSince(from, usageFrom);
    const tenant = { id: target, name: target, sandboxAt: at };
    const details = { sandbox, copyOf: source, ...(usageFrom ? { usageFrom } : {}) };
    const isNew = await ensureTenantIn(database, cell, tenant, async (trx) => {
      // Nobody uses it before it is whole.
      await suspendTenant(trx, target, realAt);
      const event = { tenantId: target, entity: 'tenant', entityKey: target } as const;
      await recordCommand(trx, { ...event, action: 'create', details });
    });
    if (!isNew) throw new Error(`There is a tenant '${target}' already.`);
    const to = scopeOf(database, target, commandLine, { at, realAt });
    const lastId = await findLastEvent(from);
    const ids = await copyRecords(from, to, (table, rows) =>
      process.stderr.write(`${rows} rows of ${table}\n`),
    );
    const run = { workflowId: `${target}/copy`, runId: randomUUID() };
    const usage = { from, to, ids, since: usageFrom, lastId, run };
    const done = await copyUsage(usage, ({ events }) =>
      process.stderr.write(`${events} usage events\n`),
    );
    await resumeTenant(database.platform, target);
    return done;
  });
  const { events, charges, leftOut } = copied;
  const rest = leftOut === 0 ? '' : `; ${leftOut} events were left out`;
  process.stdout.write(
    `copied ${source} to the sandbox ${target}: ${events} usage events, ${charges} charges${rest}\n`,
  );
}

async function parseDate(text: string): Promise<string> {
  const { isCalendarDate } = await import('../../kernel/time/date.js');
  if (!isCalendarDate(text)) throw new InvalidArgumentError('Use a date such as 2026-03-01.');
  return text;
}

/** `durabill tenant copy` (docs/decisions/0383). */
export function registerCopy(group: Command): void {
  group
    .command('copy')
    .description('Copy catalog, accounts, contracts and usage of a tenant into a new sandbox.')
    .argument('<from>', 'tenant')
    .argument('<to>', 'the new tenant')
    .option('--sandbox', 'the copy is a sandbox, whose time stands still until it is moved')
    .option('--usage-from <date>', 'copy usage from this day on: the start of a meter period')
    .addHelpText(
      'after',
      `
Records get ids of their own, external ids and charges are kept. Invoices, payments, wallets, records,
webhooks and keys are not copied. A copy that fails stays suspended: durabill tenant delete TO.`,
    )
    .action(async (from: string, to: string, options: CopyOptions) => {
      const { usageFrom } = options;
      await copyTenant(from, to, {
        ...options,
        ...(usageFrom === undefined ? {} : { usageFrom: await parseDate(usageFrom) }),
      });
    });
}
