import type { Command } from 'commander';

/** `durabill demo`: a first bill on the running instance, through its public API. */
export function registerDemo(program: Command): void {
  program
    .command('demo')
    .description('Make a tenant with a priced service, send a file of usage, explain a charge.')
    .option('--year', 'instead, make customers with 100,000 events of a year, and bill its months')
    .action(async ({ year }: { readonly year?: true }) => {
      if (year) {
        const { runDemoYear } = await import('./demo-year.js');
        await runDemoYear();
        return;
      }
      const { runDemo } = await import('./demo-run.js');
      await runDemo();
    });
}
