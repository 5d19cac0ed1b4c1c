import type { Command } from 'commander';

const answerMs = 5_000;

interface Health {
  readonly isReady: boolean;
  readonly text: string;
}

/** The health of the API's parts; the API may not answer while its process runs. */
async function askHealth(apiUrl: string): Promise<Health> {
  try {
    const answer = await fetch(`${apiUrl}/readyz`, { signal: AbortSignal.timeout(answerMs) });
    const parts = (await answer.json()) as Readonly<Record<string, unknown>>;
    const shown = Object.entries(parts).map(([name, value]) =>
      typeof value === 'boolean' ? `${name} ${value ? 'answers' : 'does not answer'}` : undefined,
    );
    const text = shown.filter((part) => part !== undefined).join(', ');
    return { isReady: answer.ok, text };
  } catch {
    return { isReady: false, text: `${apiUrl} does not answer` };
  }
}

/** `durabill status`: what runs on the data folder, and whether its parts answer. */
async function printStatus(): Promise<void> {
  const { loadConfig } = await import('../../platform/config/config.js');
  const { areServersConfigured } = await import('../../platform/configured-servers.js');
  const { findHolder, readInstance } = await import('./embedded-parts.js');
  const config = loadConfig();
  const isElsewhere = areServersConfigured(config);
  const instance = isElsewhere ? undefined : await readInstance(config.dataDir);
  const holder = instance?.isRunning === true ? await findHolder(config.dataDir) : undefined;
  const apiUrl = holder === undefined ? (isElsewhere ? config.publicUrl : null) : instance?.apiUrl;
  const health = apiUrl ? await askHealth(apiUrl) : undefined;
  const rows: readonly (readonly [string, string | null | undefined])[] = [
    ['Process', holder === undefined ? 'none on this folder' : `${holder.pid}`],
    ['State', holder === undefined ? undefined : instance?.state],
    ['API', apiUrl],
    ['Health', health?.text],
    ['Temporal UI', holder === undefined ? undefined : instance?.temporalUiUrl],
    ['Data', config.dataDir],
  ];
  for (const [name, value] of rows) {
    if (value) process.stdout.write(`${name.padEnd(13)}${value}\n`);
  }
  const isReady =
    health === undefined ? holder !== undefined && instance?.state === 'ready' : health.isReady;
  process.stdout.write(isReady ? 'Durabill is ready\n' : 'Durabill is not ready\n');
  if (!isReady) process.exitCode = 1;
}

export function registerStatus(program: Command): void {
  program
    .command('status')
    .description(
      'Show what runs on the data folder and whether it is ready; exit code 1: it is not.',
    )
    .action(printStatus);
}
