import type { Command } from 'commander';

/** `durabill demo`: a first bill on the running instance, through its public API. */
export function registerDemo(program: Command): void {
  program
    .command('demo')
    .description('Make a tenant with a priced service, send a file of usage, explain a charge.')
    .action(async () => {
      const { runDemo } = await import('./demo-run.js');
      await runDemo();
    });
}
