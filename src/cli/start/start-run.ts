import type { EventEmitter } from 'node:events';
import closeWithGrace from 'close-with-grace';
import type { Config } from '../../platform/config/config.js';
import { StartupError, firstLine } from '../../platform/startup-error.js';
import type { Platform } from '../../process/platform.js';
import { readSecretKeys, secretBox } from '../../platform/secret-box.js';
import {
  areServersConfigured,
  reachConfigured,
  useConfiguredServers,
  type TemporalServer,
  type Tenure,
} from '../../platform/configured-servers.js';
import { yearFiller } from '../demo/year-filler.js';
import { loadEmbedded } from './embedded-parts.js';
import { cannotListen, refuseOccupiedPort } from './listen-port.js';
import { banner } from './start-banner.js';
import { runSteps, type Step, type Tell } from './run-side-by-side.js';

const DRAIN_LIMIT_MS = 20_000;
const SECOND_SIGNAL_AFTER_MS = 500;
const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const;
const TOKEN_SECONDS = 60 * 60;

/**
 * Everything that is not needed to start the servers. Reading these modules takes a second or two
 * of our own processor time, which passes while the servers start.
 */
async function loadParts() {
  const [
    preparation,
    cellPreparation,
    platform,
    tenants,
    worker,
    api,
    mcp,
    calls,
    operator,
    events,
    jose,
  ] = await Promise.all([
    import('../../process/prepare-database.js'),
    import('../../process/prepare-cells.js'),
    import('../../process/platform.js'),
    import('../../access/tenants.js'),
    import('../../worker/main.js'),
    import('../../api/main.js'),
    import('../../api/mcp/mcp-server.js'),
    import('../../api/operation-caller.js'),
    import('../../api/server/operator-server.js'),
    import('../access/security-event.js'),
    import('jose'),
  ]);
  return {
    recordCommand: events.recordCommand,
    decodeJwt: jose.decodeJwt,
    ...preparation,
    ...cellPreparation,
    ownersOf: cellPreparation.ownersOf,
    ...platform,
    ...tenants,
    ...worker,
    ...api,
    warmUpMcp: mcp.warmUpMcp,
    ...calls,
    ...operator,
  };
}

type Parts = Awaited<ReturnType<typeof loadParts>>;

/** What the steps of a start have opened. */
interface Opened {
  databaseUrl?: string;
  owners?: ReadonlyMap<string, string>;
  temporal?: TemporalServer;
  apiUrl?: string;
}

/** The resources opened so far, to be closed in the reverse order. */
interface Run {
  config: Config;
  abort: AbortController;
  closers: (() => Promise<void>)[];
  tenure: Tenure | undefined;
  warn: (text: string) => void;
  /** Called before the process shuts down: from then on it reports itself as not ready. */
  onEnding: () => void;
  /** Ends the process because of a failure, with exit code 1, after it has drained. */
  fail: (reason: string) => void;
  /** The reason to shut down with an error; undefined if there is none. */
  failure: string | undefined;
}

/** Starts everything, prints the banner and returns; from then on a signal ends the process. */
export async function runStart(config: Config): Promise<void> {
  const run: Run = {
    config,
    abort: new AbortController(),
    closers: [],
    tenure: undefined,
    warn: (text) => process.stderr.write(`${text}\n`),
    onEnding: () => undefined,
    fail: () => undefined,
    failure: undefined,
  };
  // The reader of our output may close the pipe (npm start | head); the process goes on.
  process.stdout.on('error', () => undefined);
  const starting = startParts(run);
  const grace = closeOnSignal(run, starting);
  run.fail = (reason) => {
    run.failure ??= reason;
    grace.close();
  };
  if (config.isNpmScript) endWithParent(() => grace.end('the parent process has ended'));
  try {
    await starting;
  } catch (error) {
    // A signal received meanwhile is handled by closeOnSignal, which also ends the process.
    if (run.abort.signal.aborted) return;
    await closeParts(run);
    grace.uninstall();
    throw error;
  }
}

async function startParts(run: Run): Promise<void> {
  const { config, closers, abort } = run;
  const since = performance.now();
  const tenure = await openTenure(run);
  run.tenure = tenure;
  closers.push(tenure.stop);
  if (config.role !== 'worker') await refuseOccupiedPort(config);
  if (config.metrics) await refuseOccupiedPort(config.metrics, 'METRICS_');
  await reachConfigured(config);

  const loading = loadParts();
  // A failure to load is reported where the parts are awaited, below and in the steps.
  loading.catch(() => undefined);
  const opened: Opened = {};
  await runSteps([
    [databaseStep(run, tenure, opened), migrationStep(run, tenure, loading, opened)],
    [temporalStep(run, tenure, opened)],
  ]);
  abort.signal.throwIfAborted();
  const { databaseUrl, temporal } = opened;
  if (databaseUrl === undefined || temporal === undefined) throw new Error('A step was left out.');

  const parts = await loading;
  const secrets = readSecretKeys(tenure.secretKey);
  const { directDatabaseUrl, cells } = config;
  const platform = await parts.openPlatform(
    { ...config, ...secrets },
    { databaseUrl, directDatabaseUrl, cells, owners: opened.owners, temporal },
  );
  closers.push(() => platform.close());
  run.warn = (text) => platform.log.warn(text);
  run.onEnding = () => {
    platform.health.isEnding = true;
  };
  const operator = await openOperator(run, parts, platform);
  await runSteps([[workerStep(run, parts, platform)]]);
  if (config.role !== 'worker') await runSteps([[apiStep(run, parts, platform, opened)]]);
  abort.signal.throwIfAborted();

  const apiUrl = opened.apiUrl ?? null;
  await tenure.announce(apiUrl);
  const { uiUrl: temporalUiUrl } = temporal;
  const metricsUrl = operator && `${operator.url}/metrics`;
  const token = apiUrl !== null && isShownHere(run) ? await makeToken(parts, platform) : null;
  const seconds = ((performance.now() - since) / 1000).toFixed(1);
  process.stdout.write(
    `${banner({ apiUrl, temporalUiUrl, metricsUrl, dataDir: config.dataDir, token, seconds })}\n`,
  );
  // The console is bundled from now on, where that was not done (`bin/durabill.js`).
  (process as EventEmitter).emit('durabill.ready');
  if (apiUrl !== null) await parts.warmUpMcp();
}

async function openTenure({ config, abort, warn }: Run): Promise<Tenure> {
  if (areServersConfigured(config)) return useConfiguredServers(config);
  const { occupy } = await loadEmbedded(() => import('../../embedded/embedded-servers.js'));
  return occupy(config, { abort: abort.signal, onProgress: warn });
}

/**
 * Metrics and health for operators, in a process of any role; opened early, to make the start
 * observable.
 */
async function openOperator({ config, closers }: Run, parts: Parts, platform: Platform) {
  if (config.metrics === undefined) return null;
  const operator = await parts.startOperator(platform, config.metrics).catch((error: unknown) => {
    throw cannotListen(config.metrics ?? config, error, 'METRICS_');
  });
  closers.push(() => operator.close());
  return operator;
}

function databaseStep(run: Run, tenure: Tenure, opened: Opened): Step {
  return {
    title: 'PostgreSQL',
    work: async (tell) => {
      opened.databaseUrl = await tenure.openDatabase(progressOf(run, tell));
      const { hostname, port } = new URL(opened.databaseUrl);
      return `${hostname}:${port || '5432'}`;
    },
  };
}

/**
 * Migrates as the owner of the tables; afterwards this process uses a login with fewer privileges.
 */
function migrationStep(
  { config, warn }: Run,
  tenure: Tenure,
  loading: Promise<Parts>,
  opened: Opened,
): Step {
  return {
    title: 'Migrations',
    work: async (tell) => {
      const parts = await loading;
      const { databaseUrlsOf, ownersOf, prepareCells, prepareDatabase, requireKnownCells } = parts;
      const urls = await databaseUrlsOf(opened.databaseUrl ?? '', config);
      const { secret, previousSecrets } = readSecretKeys(tenure.secretKey);
      const names = await prepareDatabase(urls, {
        box: secretBox(secret, previousSecrets),
        tenant: tenure.isOwner ? 'default' : undefined,
        onStep: tell,
      });
      opened.databaseUrl = urls.login;
      opened.owners = ownersOf(urls.owner, config.cells);
      await requireKnownCells(urls.login, config.cells);
      const cells = await prepareCells(config.cells, tell);
      for (const { name, absence } of cells) {
        if (absence === undefined) continue;
        warn(`the cell '${name}' does not answer; starting without it: ${absence}`);
      }
      const count = cells.reduce((sum, { migrations }) => sum + migrations.length, names.length);
      return count === 0 ? 'up to date' : `${count} applied`;
    },
  };
}

function temporalStep(run: Run, tenure: Tenure, opened: Opened): Step {
  return {
    title: 'Temporal',
    work: async (tell) => {
      opened.temporal = await tenure.openTemporal(progressOf(run, tell));
      return opened.temporal.address;
    },
  };
}

function workerStep(
  run: Run,
  { startWorkers, openOperationCaller }: Parts,
  platform: Platform,
): Step {
  return {
    title: 'Worker',
    work: async (tell) => {
      tell('bundling the workflows');
      const workers = await startWorkers(platform, {
        callOperation: openOperationCaller(platform),
      });
      run.closers.push(() => workers.drain());
      void workers.failed.then(({ message }) => run.fail(`a worker has failed: ${message}`));
      return 'polls';
    },
  };
}

function apiStep(run: Run, { startApi }: Parts, platform: Platform, opened: Opened): Step {
  return {
    title: 'API',
    work: async () => {
      const fillYear = isShownHere(run) ? yearFiller(() => opened.apiUrl, platform.now) : undefined;
      const api = await startApi(platform, { accepted: 16, fillYear }).catch((error: unknown) => {
        throw cannotListen(run.config, error);
      });
      run.closers.push(() => api.close());
      opened.apiUrl = api.url;
      return api.url;
    },
  };
}

function progressOf(run: Run, tell: Tell) {
  return {
    onProgress: tell,
    onWarning: (text: string) => run.warn(text),
    abort: run.abort.signal,
  };
}

/**
 * Whether this is a personal machine: all data is embedded, and the port is reachable from here
 * only. Elsewhere output is collected in journals, which must not contain credentials
 * (docs/decisions/0201).
 */
const isOwnMachine = ({ databaseUrl, host }: Config): boolean =>
  databaseUrl === undefined && /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/i.test(host);

const isShownHere = ({ config, tenure }: Run): boolean =>
  tenure?.isOwner === true && isOwnMachine(config);

async function makeToken(
  { decodeJwt, ensureTenant, recordCommand }: Parts,
  { database, tokens }: Platform,
): Promise<string> {
  const tenantId = 'default';
  await ensureTenant(database.platform, tenantId);
  const who = { orgId: 'default', roles: ['ADMIN'], subject: 'npm-start' };
  const token = await tokens.issue({ ...who, tenantId, expiresInSeconds: TOKEN_SECONDS });
  await recordCommand(database.platform, {
    tenantId,
    entity: 'accessToken',
    entityKey: decodeJwt(token).jti ?? null,
    action: 'issue',
    details: { ...who, expiresInSeconds: TOKEN_SECONDS },
  });
  return token;
}

/**
 * The first signal drains: no new requests, those under way finish, workers shut down, connections
 * close, embedded servers stop. A second signal, or the time limit, ends the process at once. A
 * failed worker and an uncaught error (after which the state is unknown) drain in the same way,
 * with exit code 1.
 */
function closeOnSignal(run: Run, starting: Promise<void>) {
  const abandon = (): void => run.tenure?.abandon();
  const grace = closeWithGrace(
    {
      delay: DRAIN_LIMIT_MS,
      logger: false,
      skip: ['beforeExit', ...SIGNALS],
      onSecondError: abandon,
      onTimeout: () => {
        run.warn(`not finished within ${DRAIN_LIMIT_MS / 1000} s; ending now`);
        abandon();
      },
    },
    async ({ err }) => {
      if (err !== undefined)
        run.warn(`ending after an error that nobody caught: ${err.stack ?? ''}`);
      if (run.failure !== undefined)
        run.warn(`ending, to be started again, because ${run.failure}`);
      run.onEnding();
      run.abort.abort();
      await starting.catch(() => undefined);
      await closeParts(run);
      // A supervisor restarts the process after a failure.
      if (run.failure !== undefined) throw new StartupError(run.failure);
    },
  );
  let firstAt: number | undefined;
  const onSignal = (signal: string): void => {
    if (firstAt === undefined) {
      firstAt = Date.now();
      run.warn(`${signal}: finishing what is under way`);
      grace.close();
      return;
    }
    // Ctrl-C below npm arrives twice, from the terminal and from npm; a person takes longer.
    if (Date.now() - firstAt < SECOND_SIGNAL_AFTER_MS) return;
    run.warn(`second ${signal}: ending now`);
    abandon();
    process.exit(1);
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  const uninstall = (): void => {
    for (const name of SIGNALS) process.off(name, onSignal);
    grace.uninstall();
  };
  return { uninstall, end: onSignal, close: () => void grace.close() };
}

async function closeParts({ closers, tenure, warn }: Run): Promise<void> {
  await tenure?.announceEnd().catch(() => undefined);
  for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) {
    await closer().catch((error: unknown) => warn(`while stopping: ${firstLine(error)}`));
  }
}

/**
 * A killed npm, or a shell that does not forward SIGTERM, does not end its child: without this
 * check, an orphaned instance would go on and hold the port.
 */
function endWithParent(end: () => void): void {
  const parent = process.ppid;
  const ticker = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(ticker);
    end();
  }, 250);
  ticker.unref();
}
