import { InvalidArgumentError, type Command } from 'commander';
import {
  everyTenant,
  retentionDaysMax,
  retentionDaysMin,
  retentionKinds,
  type RetentionKind,
} from '../../kernel/retention.js';

/** Days; null: for ever; undefined: as the installation has it. */
interface GivenDays {
  readonly days: number | null | undefined;
}

type RetentionOptions = Readonly<Partial<Record<RetentionKind, GivenDays>>> & {
  readonly default?: true;
};

const parseDays =
  (kind: RetentionKind) =>
  (text: string): GivenDays => {
    if (text === 'ever') return { days: null };
    if (text === 'default') return { days: undefined };
    const days = Number(/^(\d{1,5})d$/.exec(text)?.[1] ?? 0);
    const daysMin = retentionDaysMin[kind];
    if (days < daysMin || days > retentionDaysMax) {
      throw new InvalidArgumentError(
        `Use days from ${daysMin}d to ${retentionDaysMax}d, 'ever', or 'default'.`,
      );
    }
    return { days };
  };

async function changeRetention(id: string | undefined, options: RetentionOptions): Promise<void> {
  if ((id === undefined) !== (options.default === true)) {
    throw new Error('Name one tenant, or --default for what holds where a tenant has no rule.');
  }
  const tenantId = id ?? everyTenant;
  const changes = retentionKinds.flatMap((kind) => {
    const given = options[kind];
    return given === undefined ? [] : [{ kind, days: given.days }];
  });
  const { withInstance } = await import('../start/instance.js');
  const { requireTenant } = await import('../../access/tenants.js');
  const { readRetention, setRetention } = await import('../../models/access/retention-rule.js');
  const { findLegalHold } = await import('../../models/access/legal-hold.js');
  const { recordCommand } = await import('../access/security-event.js');
  const { rules, hold } = await withInstance(async ({ database }) => {
    if (id !== undefined) await requireTenant(database.platform, id);
    // Of a tenant all of it is in its cell; the defaults are brought there from the home database.
    const { platform } = id === undefined ? database.home : await database.cellOf(id);
    return platform.transaction(async (trx) => {
      for (const { kind, days } of changes) await setRetention(trx, tenantId, kind, days);
      if (changes.length > 0) {
        const set = changes.map(({ kind, days }) => [kind, textOf(days)]);
        await recordCommand(trx, {
          tenantId: id ?? null,
          entity: 'tenant',
          entityKey: tenantId,
          action: 'update',
          details: { retention: Object.fromEntries(set) as object },
        });
      }
      return {
        rules: await readRetention(trx, tenantId),
        hold: id === undefined ? undefined : await findLegalHold(trx, id),
      };
    });
  });
  for (const { kind, days, setBy, removed, removedBefore } of rules) {
    const so =
      removedBefore === null ? '' : `\t${removed} removed, up to ${removedBefore.toISOString()}`;
    process.stdout.write(`${kind}\t${textOf(days)}\tby the ${setBy}${so}\n`);
  }
  if (hold) {
    const since = hold.placedAt.toISOString();
    process.stdout.write(`legal hold since ${since}: nothing is removed (${hold.reason})\n`);
  }
}

const textOf = (days: number | null | undefined): string => {
  if (days === undefined) return 'default';
  return days === null ? 'ever' : `${days}d`;
};

/** `durabill tenant retention` (docs/decisions/0350). */
export function registerRetention(group: Command): void {
  group
    .command('retention')
    .description('Set how long data of a tenant are kept; without options, show it.')
    .argument('[id]', 'tenant')
    .option('--default', 'the default of this installation, in place of a tenant')
    .option('--messages <days>', 'messages of rated usage', parseDays('messages'))
    .option('--webhooks <days>', 'deliveries that ended, their events', parseDays('webhooks'))
    .option('--executions <days>', 'executions that ended', parseDays('executions'))
    .option(
      '--idempotency-keys <days>',
      'keys and the answers under them',
      parseDays('idempotencyKeys'),
    )
    .option('--audit <days>', 'entries of the audit', parseDays('audit'))
    .addHelpText(
      'after',
      `
Days as 400d; 'ever' keeps for ever, 'default' goes back to the default. What is older is removed
once a day, for good, but for what is needed still. Afterwards a request that is repeated under a key
that is gone is done again.`,
    )
    .action(changeRetention);
}
