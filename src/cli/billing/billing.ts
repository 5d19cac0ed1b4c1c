import { InvalidArgumentError, Option, type Command } from 'commander';
import { billingScheduleFrequencies } from '../../messages/billing-run.js';
import { isCalendarDate } from '../../kernel/time/date.js';
import type { BillingRunOptions } from './billing-run.js';
import type { ScheduleOptions } from './billing-schedule-run.js';
import type { ScheduledJob } from '../../flows/billing/billing-schedule.js';

function parseDate(text: string): string {
  if (isCalendarDate(text)) return text;
  throw new InvalidArgumentError('Use a date such as 2026-03-31.');
}

function parseHour(text: string): number {
  if (/^\d{1,2}$/.test(text) && Number(text) < 24) return Number(text);
  throw new InvalidArgumentError('Use an hour from 0 to 23.');
}

/** `durabill billing-run`: bills a period, and shows how far it is. */
export function registerBillingRun(program: Command): void {
  program
    .command('billing-run')
    .description('Bill a period: post the invoices of all due accounts, or of one.')
    .requiredOption('--tenant <id>', 'tenant to bill')
    .requiredOption('--from <date>', 'first day of the period', parseDate)
    .requiredOption('--to <date>', 'last day of the period', parseDate)
    .option('--account <id>', 'only this account')
    .option('--dry-run', 'show what would be billed, and write nothing')
    .addHelpText(
      'after',
      `
A run may be repeated: what is billed already is not billed again. It goes on when this command is
stopped.`,
    )
    .action(async (options: BillingRunOptions) => {
      const { runBillingFromTerminal } = await import('./billing-run.js');
      await runBillingFromTerminal(options);
    });
}

/** `durabill billing-schedule set|pause|resume|trigger|remove|list`: when tenants are billed. */
export function registerBillingSchedule(program: Command): void {
  const group = program
    .command('billing-schedule')
    .description('Bill tenants by themselves: after each calendar period, that period.');
  registerSchedule(group, 'billing', { done: 'billed', trigger: 'Bill' });
}

/** `durabill audit-schedule set|…|list`: when the rated usage of tenants is audited. */
export function registerAuditSchedule(program: Command): void {
  const group = program
    .command('audit-schedule')
    .description('Audit rated usage by itself: after each calendar period, that period.');
  registerSchedule(group, 'audit', { done: 'audited', trigger: 'Audit' });
}

function registerSchedule(
  group: Command,
  job: ScheduledJob,
  { done, trigger }: { readonly done: string; readonly trigger: string },
): void {
  group
    .command('set')
    .description(`Set when a tenant is ${done}.`)
    .argument('<tenant>', 'tenant')
    .addOption(
      new Option('--every <period>', `the calendar period that is ${done} when it has ended`)
        .choices([...billingScheduleFrequencies])
        .default('Monthly'),
    )
    .option('--hour <hour>', 'hour of the next day, in UTC', parseHour, 1)
    .action(async (tenant: string, options: ScheduleOptions) => {
      const { setSchedule } = await import('./billing-schedule-run.js');
      await setSchedule(job, tenant, options);
    });
  const changes = [
    ['pause', 'Pause the schedule of a tenant.'],
    ['resume', 'Let a paused schedule go on.'],
    ['trigger', `${trigger} the period that ended last now.`],
    ['remove', 'Remove the schedule of a tenant.'],
  ] as const;
  for (const [change, description] of changes) {
    group
      .command(change)
      .description(description)
      .argument('<tenant>', 'tenant')
      .action(async (tenant: string) => {
        const { changeSchedule } = await import('./billing-schedule-run.js');
        await changeSchedule(job, tenant, change);
      });
  }
  group
    .command('list')
    .description('List the schedules: tenant, when, whether paused, next time.')
    .action(async () => {
      const { printSchedules } = await import('./billing-schedule-run.js');
      await printSchedules(job);
    });
}
