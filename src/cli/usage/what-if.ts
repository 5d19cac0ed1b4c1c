import type { Command } from 'commander';
import type { WhatIfOptions } from './what-if-run.js';

/** `durabill what-if`: what recorded usage would cost with other prices. */
export function registerWhatIf(program: Command): void {
  program
    .command('what-if')
    .description('Say what recorded usage would cost with other prices, beside the books.')
    .requiredOption('--tenant <id>', 'tenant whose usage is rated')
    .requiredOption('--from <time>', 'usage from here on: a date or an instant in UTC')
    .requiredOption('--to <time>', 'and before here')
    .requiredOption('--changes <file>', 'a file with the changes, a JSON array; - reads the input')
    .option('--name <text>', 'what people call it', 'What if')
    .option('--account <id...>', 'only usage of these accounts')
    .option('--service <id...>', 'only usage of these services')
    .option('--account-change-max <percent>', 'how far what an account pays may rise or fall')
    .option('--total-decrease-max <percent>', 'how far the total of a currency may fall')
    .option('--json', 'print the result as JSON')
    .option('--url <address>', 'API to ask; the running instance by default')
    .addHelpText(
      'after',
      `
A change is one of
  {"kind": "rateCard", "serviceId": "Data API", "currency": "USD", "rows": [...]}
  {"kind": "exceptionCard", "contractServiceId": "...", "currency": "USD", "rows": [...]}
  {"kind": "pricingLogic", "serviceId": "Data API", "name": "...", "priceOutput": "...", ...}
  {"kind": "usage", "factor": 1.2, "attribute": "API calls"}
  {"kind": "adjustment", "adjustment": {"accountId": "acme", "kind": "discountPercent", ...}}
with rows and logic as the API takes them. It goes on when this command is stopped; the exit code is 2
where a limit is not kept.`,
    )
    .action(async (options: WhatIfOptions) => {
      const { tryFromTerminal } = await import('./what-if-run.js');
      await tryFromTerminal(options);
    });
}
