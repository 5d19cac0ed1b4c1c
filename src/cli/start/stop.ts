import type { Command } from 'commander';

/** The time limit of a drain, and as long again for what was embedded to end. */
const endMs = 45_000;

/** `durabill stop`: drains the instance of the data folder, as Ctrl-C does where it was started. */
async function stopInstance(): Promise<void> {
  const { loadConfig } = await import('../../platform/config/config.js');
  const { findHolder } = await import('./embedded-parts.js');
  const { dataDir } = loadConfig();
  const holder = await findHolder(dataDir);
  if (holder === undefined) {
    process.stdout.write(`Durabill does not run on ${dataDir}\n`);
    return;
  }
  const { hasEnded, signal } = await import('../../embedded/processes.js');
  process.stderr.write(`process ${holder.pid} finishes what is under way\n`);
  signal(holder.pid, 'SIGTERM');
  if (!(await hasEnded(holder, endMs))) {
    throw new Error(`Process ${holder.pid} has not ended within ${endMs / 1000} s.`);
  }
  process.stdout.write(`stopped process ${holder.pid} on ${dataDir}\n`);
}

export function registerStop(program: Command): void {
  program
    .command('stop')
    .description('Stop the instance of the data folder, after it has finished what is under way.')
    .action(stopInstance);
}
