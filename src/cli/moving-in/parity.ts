import { InvalidArgumentError, type Command } from 'commander';
import type { ParityOptions } from './parity-run.js';

function parseTolerance(text: string): string {
  if (/^\d+(\.\d+)?$/.test(text)) return text;
  throw new InvalidArgumentError('Use an amount such as 0.01.');
}

/** `durabill parity`: what another system has billed, against what was rated here. */
export function registerParity(program: Command): void {
  program
    .command('parity')
    .description('Compare what another system has billed with what was rated here, line by line.')
    .requiredOption('--tenant <id>', 'tenant whose usage is compared')
    .requiredOption('--against <file>', 'CSV: customer, meter, currency, from, to, amount')
    .option('--tolerance <amount>', 'differences up to this are none', parseTolerance, '0')
    .option('--no-receipts', 'leave out how the newest charge of a differing line came about')
    .option('--url <address>', 'API to ask; the running instance by default')
    .addHelpText(
      'after',
      `
A row is what a customer was billed for a meter in [from, to), net. What was rated is rounded as an
invoice item is. What was rated here and not billed there is a difference, too. The exit code is 1 where
anything differs.`,
    )
    .action(async (options: ParityOptions) => {
      const { compareFromTerminal } = await import('./parity-run.js');
      await compareFromTerminal(options);
    });
}
