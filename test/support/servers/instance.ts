import { randomBytes } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import type { Knex } from 'knex';
import request from 'supertest';
import { startApi } from '../../../src/api/main.js';
import { fillYear } from '../../../src/cli/demo/demo-year.js';
import { defined } from '../../../src/kernel/defined.js';
import type { Scope } from '../../../src/kernel/scope.js';
import type { KafkaSettings } from '../../../src/adapters/kafka/kafka-broker.js';
import { openDatabase } from '../../../src/platform/database/database.js';
import {
  openPlatform,
  type CellServer,
  type Platform,
  type PlatformConfig,
} from '../../../src/process/platform.js';
import {
  ensureTenantIn,
  requireCell,
  tenantCellFinder,
} from '../../../src/access/cells/tenant-cells.js';
import { setTenantPlan } from '../../../src/access/tenants.js';
import { openOperationCaller } from '../../../src/api/operation-caller.js';
import { startWorkers, type WorkerOptions } from '../../../src/worker/main.js';
import { nameDatabase } from './cells.js';
import { checked } from '../http/answers.js';
import { isPooled } from './pooled-tests.js';
import { throughPooler } from './pooler.js';
import { createTestDatabase, testServers } from './servers.js';

/** A tenant of a test with a client that speaks for it; answers are checked: see `answers.ts`. */
export interface TestTenant {
  readonly id: string;
  readonly token: string;
  readonly scope: Scope;
  get(path: string): request.Test;
  post(path: string, body?: unknown): request.Test;
  put(path: string, body?: unknown): request.Test;
  delete(path: string): request.Test;
}

export interface TestInstance {
  readonly platform: Platform;
  readonly url: string;
  readonly databaseUrl: string;
  /** A new tenant, or the one of this id, with a token of these roles. */
  tenant(roles?: readonly string[], known?: string, cell?: string): Promise<TestTenant>;
  /** A token for an existing or imagined tenant. */
  token(tenantId: string, roles?: readonly string[], orgId?: string | null): Promise<string>;
  close(): Promise<void>;
}

export const external = '/api/v1/external';

/**
 * What hears every statement of a tenant's requests: each of them has a handle of its own, whose
 * prototype they share.
 */
export const allStatements = ({ db }: Scope): Knex => Object.getPrototypeOf(db.read) as Knex;

export interface InstanceOptions {
  /** Whether usage is consumed and rated; off, it stays in the log. */
  readonly withWorkers?: boolean;
  /** Around every activity; see `WorkerOptions`. */
  readonly activityInterceptors?: WorkerOptions['activityInterceptors'];
  readonly ingestTimeoutMs?: number;
  /** Instead of the broker of this run; null: the one in PostgreSQL. */
  readonly kafka?: KafkaSettings | null;
  readonly flowTimeoutMs?: number;
  readonly flowLifeMs?: number;
  readonly watch?: WorkerOptions['watch'];
  readonly overdueMs?: number;
  readonly webhooks?: PlatformConfig['webhooks'];
  readonly ingestEventsPerMinute?: number;
  readonly maxConnections?: number;
  /** Reads the log, all levels of it. */
  readonly logTo?: PlatformConfig['logTo'];
  readonly payloadKeys?: PlatformConfig['payloadKeys'];
  /** How long the database works for whom, where not as always. */
  /** Seals secrets in the database; another one for each instance when missing. */
  readonly secret?: Buffer;
  readonly timeLimits?: PlatformConfig['timeLimits'];
  readonly unsignedUntil?: Date;
  readonly tracing?: PlatformConfig['tracing'];
  readonly corsOrigins?: readonly string[];
  readonly billing?: PlatformConfig['billing'];
  readonly archive?: PlatformConfig['archive'];
  readonly oidc?: PlatformConfig['oidc'];
  readonly oidcBounds?: PlatformConfig['oidcBounds'];
  /** The address that callers are told, where it is not that of this machine. */
  readonly publicUrl?: string;
  /** What the console's first page fills an unused tenant with; nothing when missing. */
  readonly yearEvents?: number;
  /** Listens on a port that is known before, so that the addresses it tells are right. */
  readonly isPublic?: boolean;
  /** The clock by which tokens, grants and requests live. */
  readonly now?: () => Date;
  /** How long its tokens hold: a clock that is moved must not end them. */
  readonly tokenSeconds?: number;
  /** Puts something between the instance and its database: the address to connect to instead. */
  readonly route?: (databaseUrl: string) => Promise<string>;
  /** A second process of an instance: it shares this one's database and secret. */
  readonly beside?: TestInstance;
  /** PostgreSQL servers beside its database that tenants may be in; see `cells.ts`. */
  readonly cells?: readonly CellServer[];
}

/**
 * How long an answer or a connection is waited for where a test is not about that: as long as a test may take. On a
 * busy machine, the same process bundles workflows for seconds while a connection is to be opened.
 */
const patienceMs = 110_000;

const json = (test: request.Test, body: unknown): request.Test =>
  typeof body === 'string'
    ? test.set('Content-Type', 'application/json').send(body)
    : body === undefined
      ? test
      : test.send(body as object);

function tenantClient(url: string, id: string, token: string, scope: Scope): TestTenant {
  const agent = request(url);
  const authorized = (method: string, path: string, test: request.Test) =>
    checked(method, path, test).set('Authorization', `Bearer ${token}`);
  return {
    id,
    token,
    scope,
    get: (path) => authorized('GET', path, agent.get(path)),
    post: (path, body) => json(authorized('POST', path, agent.post(path)), body),
    put: (path, body) => json(authorized('PUT', path, agent.put(path)), body),
    delete: (path) => authorized('DELETE', path, agent.delete(path)),
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * Through the pooler, where the tests that now run are to, except for what needs a session of its own.
 * What a test puts between is before PostgreSQL itself.
 */
async function addressesOf(
  databaseUrl: string,
  poolerPort: number | undefined,
  route: InstanceOptions['route'],
) {
  if (route) return { databaseUrl: await route(databaseUrl) };
  return poolerPort === undefined || !isPooled()
    ? { databaseUrl }
    : { databaseUrl: throughPooler(databaseUrl, poolerPort), directDatabaseUrl: databaseUrl };
}

/** The whole product on a database of its own: API over HTTP and, if asked, the workers. */
export async function openTestInstance(options: InstanceOptions = {}): Promise<TestInstance> {
  const servers = await testServers();
  const databaseUrl = options.beside?.databaseUrl ?? (await createTestDatabase());
  const { cells = [] } = options;
  // Those that have servers of their own are there to miss them.
  const connectMs = options.route === undefined && cells.length === 0 ? patienceMs : undefined;
  if (cells.length > 0) await nameDatabase(databaseUrl, 'home');
  const unique = randomBytes(4).toString('hex');
  const port = options.isPublic === true ? await freePort() : 0;
  const platform = await openPlatform(
    {
      databasePoolMax: 10,
      connectMs,
      ingestTimeoutMs: options.ingestTimeoutMs ?? 10_000,
      kafka:
        options.kafka === undefined
          ? servers.kafka && { ...servers.kafka, prefix: unique }
          : (options.kafka ?? undefined),
      flowTimeoutMs: options.flowTimeoutMs ?? patienceMs,
      flowLifeMs: options.flowLifeMs,
      ingestEventsPerMinute: options.ingestEventsPerMinute,
      maxConnections: options.maxConnections,
      // Receivers of tests are on this machine.
      webhooks: { allowsPrivateAddresses: true, ...options.webhooks },
      logLevel: options.logTo ? 'trace' : (process.env['TEST_LOG_LEVEL'] ?? 'silent'),
      logTo: options.logTo,
      publicUrl:
        options.publicUrl ?? (port === 0 ? 'http://localhost' : `http://127.0.0.1:${port}`),
      host: '127.0.0.1',
      port,
      secret: options.secret ?? options.beside?.platform.config.secret ?? randomBytes(32),
      taskQueue: `test-${unique}`,
      payloadKeys: options.payloadKeys,
      corsOrigins: options.corsOrigins,
      billing: options.billing,
      archive: options.archive,
      oidc: options.oidc,
      oidcBounds: options.oidcBounds,
      // Those that a test asks for may live as long as it asks.
      tokenLifeMaxSeconds: options.tokenSeconds,
      timeLimits: options.timeLimits,
      unsignedUntil: options.unsignedUntil,
      tracing: options.tracing,
      ...defined({ now: options.now }),
    },
    {
      cells,
      // Tests connect as the owner, who moves tenants, too.
      owners: new Map([
        ['home', databaseUrl],
        ...cells.map(({ name, url }) => [name, url] as const),
      ]),
      ...(await addressesOf(databaseUrl, servers.poolerPort, options.route)),
      temporal: servers.temporal,
    },
  );
  const { activityInterceptors = [], watch = {}, overdueMs = 600_000 } = options;
  const workers =
    options.withWorkers === true
      ? await startWorkers(platform, {
          activityInterceptors,
          watch,
          overdueMs,
          callOperation: openOperationCaller(platform),
        })
      : undefined;
  const { yearEvents } = options;
  const api: Awaited<ReturnType<typeof startApi>> = await startApi(platform, {
    fillYear:
      yearEvents === undefined
        ? undefined
        : async (token, onProgress) => {
            await fillYear({ url: api.url, token }, yearEvents, platform.now(), onProgress);
          },
  });
  // Tenants are made by the owner's side, as by the command line.
  const owner = openDatabase(databaseUrl, 2, {
    cells,
    findCell: tenantCellFinder,
    connectMs,
  });
  const { tokenSeconds: expiresInSeconds = 3600 } = options;
  let count = 0;
  const issue = (
    tenantId: string,
    roles: readonly string[] = ['ADMIN'],
    orgId: string | null = 'org',
  ) => platform.tokens.issue({ tenantId, orgId, roles, subject: 'tester', expiresInSeconds });
  return {
    platform,
    databaseUrl,
    url: api.url,
    token: issue,
    async tenant(roles, known, cell = 'home') {
      count += 1;
      const id = known ?? `t${unique}-${count}`;
      await ensureTenantIn(owner, requireCell(owner, cell), { id });
      // Tests ask for more in a minute than any plan allows; those of the limits set another one.
      await setTenantPlan(owner.platform, id, 'enterprise', 1_000_000_000);
      const trail = { actor: 'tester', requestId: 'test' };
      const scope: Scope = {
        tenantId: id,
        orgId: 'org',
        roles: ['ADMIN'],
        ...trail,
        // As requests have it: what listens to its statements hears those of the API.
        db: platform.database.forTenant(id, trail, 'request'),
        home:
          cells.length === 0 ? undefined : platform.database.home.forTenant(id, trail, 'request'),
        now: () => new Date(),
        realNow: () => new Date(),
      };
      return tenantClient(api.url, id, await issue(id, roles), scope);
    },
    async close() {
      await api.close();
      await workers?.drain();
      await platform.close();
      await owner.close();
    },
  };
}
