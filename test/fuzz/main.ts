/**
 * `npm run test:fuzz`: schemathesis reads /openapi.json of a started instance and tries to make it
 * lie: a status that is not documented, an answer outside its schema, an error of ours.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { parseCount } from '../../src/cli/options.js';
import { readConfig } from '../../src/platform/config/config.js';
import { StartupError } from '../../src/platform/startup-error.js';
import { setTenantPlan } from '../../src/access/tenants.js';
import { openTestInstance, type TestInstance } from '../support/servers/instance.js';
import { stopTestServers } from '../support/servers/servers.js';
import { buildWorld } from '../support/http/world.js';
import { findSchemathesis, runSchemathesis, type Findings } from './schemathesis.js';
import { describeRun } from './setup.js';

interface FuzzOptions {
  readonly examples: number;
  readonly maxTime?: number;
  readonly operation: readonly string[];
  readonly phases?: string;
  /** Has more digits than a number holds. */
  readonly seed?: string;
}

const tell = (text: string): void => void process.stderr.write(`fuzz: ${text}\n`);

/** A tenant that rate limits do not stop, with records in it; the text of the configuration file. */
async function seed(instance: TestInstance): Promise<string> {
  const tenant = await instance.tenant();
  await setTenantPlan(instance.platform.database.platform, tenant.id, 'enterprise', 1_000_000_000);
  const kept = await buildWorld(tenant);
  // The same records once more under names of their own.
  const spare = await buildWorld({ ...tenant, id: `${tenant.id}-spare` });
  return describeRun(tenant.token, kept, spare);
}

async function fuzz(options: FuzzOptions, folder: string, signal: AbortSignal): Promise<Findings> {
  const { cacheDir } = readConfig(process.env);
  const program = await findSchemathesis(cacheDir, { tell, signal });
  tell('starting the product and filling it');
  const instance = await openTestInstance({ withWorkers: true });
  try {
    const configPath = join(folder, 'schemathesis.toml');
    await writeFile(configPath, await seed(instance));
    signal.throwIfAborted();
    const { examples, maxTime, operation } = options;
    const args = [
      '--config-file',
      configPath,
      'run',
      `${instance.url}/openapi.json`,
      // Several workers at once make Python's own parser fail.
      '--max-examples',
      String(examples),
      '--workers',
      '1',
      // No text of a request may hold NUL, which every schema would have to repeat.
      '--generation-allow-x00',
      'false',
      '--continue-on-failure',
      '--no-shrink',
      '--generation-database',
      'none',
      '--request-timeout',
      '60',
      '--suppress-health-check',
      'all',
      '--warnings',
      'off',
      ...(maxTime === undefined ? [] : ['--max-time', String(maxTime)]),
      ...(options.seed === undefined ? [] : ['--seed', options.seed]),
      ...(options.phases === undefined ? [] : ['--phases', options.phases]),
      ...operation.flatMap((id) => ['--include-operation-id', id]),
    ];
    return await runSchemathesis(program, args, { folder, signal });
  } finally {
    await instance.close();
  }
}

/** What nobody catches, such as an error in a callback, would end the process and leave the servers. */
function stopServersWhateverFails(): void {
  const end = (error: unknown): void => {
    tell(String(error instanceof Error ? error.stack : error));
    process.stdout.write('0 passed, 1 failed\n');
    void stopTestServers().finally(() => process.exit(1));
  };
  process.once('uncaughtException', end).once('unhandledRejection', end);
}

/** The exit code. The last line printed is `N passed, N failed`. */
async function main(options: FuzzOptions): Promise<number> {
  // Errors of ours are told where they happen.
  process.env['TEST_LOG_LEVEL'] ??= 'error';
  stopServersWhateverFails();
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  const folder = await mkdtemp(join(tmpdir(), 'durabill-fuzz-'));
  try {
    const { tested, failed } = await fuzz(options, folder, stop.signal);
    process.stdout.write(`${tested - failed} passed, ${failed} failed\n`);
    return failed === 0 && tested > 0 ? 0 : 1;
  } catch (error) {
    const isToldPlainly = error instanceof StartupError || stop.signal.aborted;
    tell(isToldPlainly ? (error as Error).message : String((error as Error).stack));
    process.stdout.write('0 passed, 1 failed\n');
    return 1;
  } finally {
    await stopTestServers();
    await rm(folder, { recursive: true, force: true });
  }
}

const program = new Command('npm run test:fuzz --')
  .description('Fuzz a started instance from its own OpenAPI document.')
  .option('--examples <count>', 'examples for each operation', parseCount, 200)
  .option('--max-time <seconds>', 'end after this time; until then it goes on', parseCount)
  .option('--operation <id...>', 'only the operations with these ids', [])
  .option('--phases <names>', 'only these of examples,coverage,fuzzing,stateful')
  .option('--seed <number>', 'the seed that an earlier run has printed, to repeat it')
  .parse();
// Nothing is under way any more; Temporal's connections would keep the process for seconds.
process.exit(await main(program.opts()));
