import type { Command } from 'commander';
import type { CorrectOptions } from './correct-run.js';

/** `durabill correct`: cancels or amends an event, or rates a range again. */
export function registerCorrect(program: Command): void {
  program
    .command('correct')
    .description('Correct rated usage: cancel or amend an event, or rate a range again.')
    .requiredOption('--tenant <id>', 'tenant whose usage is corrected')
    .requiredOption('--reason <text>', 'why; the correction says so')
    .option('--cancel <id>', 'cancel this event, by its id or externalTransactionId')
    .option('--amend <id>', 'give this event the content of --message')
    .option('--message <json>', 'the content, as JSON')
    .option('--from <time>', 'rate again what happened from here on: a date or an instant in UTC')
    .option('--to <time>', 'and before here')
    .option('--account <id>', 'only usage of this account')
    .option('--contract <id>', 'only usage of this contract')
    .option('--service <id>', 'only usage of this service')
    .option('--dry-run', 'of a range: show what would change, and write nothing')
    .option('--json', 'print the answer of the API instead of a table')
    .option('--url <address>', 'API to ask; the running instance by default')
    .addHelpText(
      'after',
      `
Nothing that was rated is changed: reversals and new charges are added, and later usage of the same
counters follows. Rating a range again applies what is in force now; canceling and amending do not.`,
    )
    .action(async (options: CorrectOptions) => {
      const { correctFromTerminal } = await import('./correct-run.js');
      await correctFromTerminal(options);
    });
}
