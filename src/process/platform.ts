import type { BillingSizes } from '../messages/billing-run.js';
import { AttemptsOfAddress } from '../access/limits/attempts-of-address.js';
import { IngestionAtOnce } from '../access/limits/ingestion-at-once.js';
import { ClientAddresses } from '../access/client-address.js';
import { CredentialWatch } from '../access/credentials/credential-watch.js';
import { openAuthenticator, type Authenticate } from '../access/authenticate.js';
import type { UsageBroker } from '../messages/broker.js';
import type { Cell, CellAddress } from '../platform/database/cell.js';
import { openDatabase, type Database } from '../platform/database/database.js';
import { ChangeNotices } from '../platform/change-notices.js';
import { StreamsAtOnce } from '../access/limits/streams-at-once.js';
import { FlowReplies } from '../platform/temporal/flow-replies.js';
import { openKafkaBroker, type KafkaSettings } from '../adapters/kafka/kafka-broker.js';
import { listenTo, type HeardServer, type Listen } from '../platform/database/listen.js';
import { openLog, type Logger } from '../platform/log.js';
import { openMetrics, type Metrics } from '../platform/metrics.js';
import { PendingFlows } from '../access/oauth/pending-authorization.js';
import { SignInRequests } from '../access/oidc/sign-in-requests.js';
import { openSignInProvider } from '../adapters/oidc/provider.js';
import type { RequestBounds } from '../adapters/oidc/bounded-fetch.js';
import type { SignInProvider } from '../messages/access/sign-in-provider.js';
import type { OidcSettings } from '../platform/config/config-oidc.js';
import { openParquetWriter } from '../adapters/parquet/parquet-writer.js';
import type { ArchiveFiles } from '../messages/ageing/usage-archive.js';
import type { ParquetWriter } from '../messages/parquet.js';
import { TenantClocks } from '../access/sandbox-clock.js';
import type { ArchiveSettings } from '../platform/config/config-archive.js';
import { openArchive } from './open-archive.js';
import { ExportsAtOnce } from '../access/limits/exports-at-once.js';
import { openInvoiceRenderer, type InvoiceRenderer } from '../adapters/pdf/render-pool.js';
import type { PayloadKeys } from '../platform/temporal/payload-codec.js';
import { openPostgresBroker } from '../adapters/usage-log/postgres-broker.js';
import { claimUsageLog } from '../adapters/usage-log/usage-log-claim.js';
import { openRequestsPerMinute, type RateLimits } from '../access/limits/requests-per-minute.js';
import { StartupError } from '../platform/startup-error.js';
import { tenantCellChannel, tenantCellFinder } from '../access/cells/tenant-cells.js';
import { secretBox, type SecretBox } from '../platform/secret-box.js';
import { traceBroker } from '../adapters/usage-log/traced-broker.js';
import { openTracing, type Tracing, type TracingSettings } from '../platform/tracing.js';
import {
  openTemporal,
  type Temporal,
  type TemporalAddress,
} from '../platform/temporal/temporal.js';
import type { TimeLimits, WorkKind } from '../platform/database/time-limits.js';
import { RequestsInWork, tenantShareDefault } from '../access/limits/requests-in-work.js';
import { openTokenKeys, type TokenKeys } from '../access/tokens.js';
import { openRequestSenderApart } from '../adapters/outgoing/request-sender-apart.js';
import {
  openWebhookSender,
  webhookDefaults,
  type WebhookSender,
  type WebhookSettings,
} from '../adapters/webhooks/webhook-sender.js';

/** The task queue of an instance; tests give each database its own. */
export const defaultTaskQueue = 'durabill';

/** The settings of `openPlatform`; `Config` has them all. */
export interface PlatformConfig {
  readonly databasePoolMax: number;
  /** Time limits of database work where they differ from `timeLimits`; tests set them. */
  readonly timeLimits?: Partial<Readonly<Record<WorkKind, TimeLimits>>> | undefined;
  /** How long a new connection to PostgreSQL is waited for; tests, which are one process, wait longer. */
  readonly connectMs?: number | undefined;
  readonly ingestTimeoutMs: number;
  /** The Kafka of the usage log; undefined: the log is in PostgreSQL. */
  readonly kafka?: KafkaSettings | undefined;
  /** Where usage is archived; undefined: nowhere. */
  readonly archive?: ArchiveSettings | undefined;
  /** How long a request waits for the end of its workflow. */
  readonly flowTimeoutMs: number;
  /** Timeout of a flow in Temporal, a day by default; tests set less. */
  readonly flowLifeMs?: number | undefined;
  readonly logLevel: string;
  /** Where the log goes; undefined: to standard output. Tests read it. */
  readonly logTo?: { write(line: string): void } | undefined;
  /** Maximum connections of the API in this process, `connectionsDefault` by default. */
  readonly maxConnections?: number | undefined;
  /** Addresses and ranges of proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies?: readonly string[] | undefined;
  /**
   * The share of this process that one tenant may use while others have work: above 0, at most 1.
   */
  readonly tenantShare?: number | undefined;
  readonly publicUrl: string;
  readonly host: string;
  readonly port: number;
  /** 32 bytes that seal secrets in the database. */
  readonly secret: Buffer;
  /** Previous keys: secrets sealed with them can still be opened. */
  readonly previousSecrets?: readonly Buffer[];
  /** Where operators read metrics; undefined: nowhere. */
  readonly metrics?: { readonly host: string; readonly port: number } | undefined;
  /** Where traces go; undefined: nowhere. */
  readonly tracing?: TracingSettings | undefined;
  /** Keys that encrypt payloads in Temporal; undefined: payloads are not encrypted. */
  readonly payloadKeys?: PayloadKeys | undefined;
  /** Until when workflows without a signature are accepted; undefined: never. */
  readonly unsignedUntil?: Date | undefined;
  /** Origins whose pages may read answers (CORS). */
  readonly corsOrigins?: readonly string[] | undefined;
  /** Temporal's task queue; tests give each database its own. */
  readonly taskQueue?: string;
  /** Usage events that a tenant may send in a minute; undefined: any number. */
  readonly ingestEventsPerMinute?: number | undefined;
  /** Where they differ from `webhookDefaults`; private addresses are refused unless allowed. */
  readonly webhooks?: Partial<WebhookSettings>;
  /** How long a token may live; undefined: 90 days. */
  readonly tokenLifeMaxSeconds?: number | undefined;
  /** The provider at which people of an organization sign in; undefined: there is none. */
  readonly oidc?: OidcSettings | undefined;
  /** What requests to it may take, where that differs; tests set it. */
  readonly oidcBounds?: Partial<RequestBounds> | undefined;
  /** Batch sizes of billing runs where they differ from `billingSizes`. */
  readonly billing?: Partial<BillingSizes> | undefined;
  /** The clock for the expiry of tokens, grants and requests; tests move it. */
  readonly now?: () => Date;
}

export interface PlatformServers {
  readonly databaseUrl: string;
  /**
   * PostgreSQL itself, for connections that listen, where `databaseUrl` is a pooler's address.
   */
  readonly directDatabaseUrl?: string | undefined;
  /** The servers beside the home database that tenants may be in. */
  readonly cells?: readonly CellServer[] | undefined;
  /** The owners of the tables by cell, with whom tenants are moved. */
  readonly owners?: ReadonlyMap<string, string> | undefined;
  readonly temporal: TemporalAddress;
}

/** How a cell is reached; `directUrl` as `directDatabaseUrl`. */
export interface CellServer extends CellAddress {
  readonly directUrl?: string | undefined;
}

/** The connections of one process, opened once in a `main.ts` and passed down. */
export interface Platform {
  readonly config: PlatformConfig;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Undefined where nobody asked for traces. */
  readonly tracing: Tracing | undefined;
  readonly database: Database;
  /** The address of the owner of a cell's tables; undefined: this process does not know it. */
  readonly ownerOf: (cell: string) => string | undefined;
  readonly temporal: Temporal;
  readonly broker: UsageBroker;
  readonly admission: IngestionAtOnce;
  /** Divides the capacity of this process among tenants. */
  readonly shares: RequestsInWork;
  /** Limits by address, for requests before authentication. */
  readonly addressLimits: AttemptsOfAddress;
  /** Determines the client address of requests. */
  readonly clients: ClientAddresses;
  readonly tokens: TokenKeys;
  readonly authenticate: Authenticate;
  /** OAuth authorizations that wait for their user's consent. */
  readonly oauthFlows: PendingFlows;
  /** Sign-ins that are under way at the provider. */
  readonly signInRequests: SignInRequests;
  /** Undefined where people sign in with keys and tokens alone. */
  readonly signInProvider: SignInProvider | undefined;
  readonly flowReplies: FlowReplies;
  /** Encrypts secrets for storage in the database. */
  readonly secrets: SecretBox;
  readonly webhooks: WebhookSender;
  readonly rateLimits: RateLimits;
  readonly webhookSettings: WebhookSettings;
  readonly invoices: InvoiceRenderer;
  readonly parquet: ParquetWriter;
  /** Undefined where nothing is archived. */
  readonly archive: ArchiveFiles | undefined;
  /** Limits the concurrent streamed answers of a tenant. */
  readonly streams: ExportsAtOnce;
  /** Bounds the streams of events of a tenant and of this process. */
  readonly eventStreams: StreamsAtOnce;
  /** Ends streams whose credential was taken back. */
  readonly credentialWatch: CredentialWatch;
  /** Tells all processes what has changed, and hears of it. */
  readonly changes: ChangeNotices;
  /** Calls back on each NOTIFY on a channel of any cell, until the returned function is called. */
  readonly listen: Listen;
  /** The real time. */
  readonly now: () => Date;
  /** The time of each tenant. */
  readonly clocks: TenantClocks;
  /**
   * Whether this process's workers run (null: it has none), and whether the process is shutting
   * down.
   */
  readonly health: { areWorkersRunning: boolean | null; isEnding: boolean };
  close(): Promise<void>;
}

async function openBroker(
  { kafka, ingestTimeoutMs: timeoutMs }: PlatformConfig,
  database: Database,
  listen: Listen,
  log: Logger,
): Promise<UsageBroker> {
  if (kafka === undefined) {
    await claimUsageLogs(database, 'postgres', log);
    return openPostgresBroker(database, listen, { timeoutMs, log });
  }
  const broker = await openKafkaBroker(kafka, database, listen, { timeoutMs, log });
  await claimUsageLogs(database, `kafka:${broker.cluster}/${kafka.prefix}`, log);
  return broker;
}

/** Claims the usage log in each cell; a cell beside the home database may be away meanwhile. */
async function claimUsageLogs({ home, cells }: Database, name: string, log: Logger): Promise<void> {
  const claim = async (cell: Cell): Promise<void> => {
    try {
      await claimUsageLog(cell.platform, name);
    } catch (error) {
      if (cell === home || error instanceof StartupError) throw error;
      log.warn({ err: error, cell: cell.name }, 'a cell does not answer; starting without it');
    }
  };
  await Promise.all(cells.map(claim));
}

/** The database with its cells, and what hears their notifications. */
async function openCells(
  { databasePoolMax, timeLimits: limits, tenantShare, connectMs }: PlatformConfig,
  servers: PlatformServers,
  { log, tracing }: { readonly log: Logger; readonly tracing: Tracing | undefined },
) {
  const { databaseUrl, directDatabaseUrl = databaseUrl, cells = [] } = servers;
  const findCell = tenantCellFinder;
  const options = { log, tracing, limits, tenantShare, connectMs, cells, findCell };
  const database = openDatabase(databaseUrl, databasePoolMax, options);
  const home: HeardServer = { url: directDatabaseUrl, mayBeAway: false };
  const others = cells.map(({ url, directUrl = url }) => ({ url: directUrl, mayBeAway: true }));
  const hear = listenTo([home, ...others], log, connectMs);
  const hearHome = listenTo([home], log, connectMs);
  const stopHearing =
    cells.length === 0
      ? undefined
      : await hearHome(tenantCellChannel, (tenantId) => database.forgetCell(tenantId));
  const changes = new ChangeNotices(database.platform, hearHome, log);
  const close = async (): Promise<void> => {
    await stopHearing?.();
    await changes.close();
    await database.close();
  };
  return { database, listen: hear, changes, close };
}

function openWebhooks(config: PlatformConfig, log: Logger) {
  const webhookSettings: WebhookSettings = {
    ...webhookDefaults,
    allowsPrivateAddresses: false,
    ...config.webhooks,
  };
  const requestSender = openRequestSenderApart(webhookSettings, log);
  return { webhookSettings, webhooks: openWebhookSender(webhookSettings, { requestSender }) };
}

/** Opens what divides the capacity of the process among its tenants. */
const openShares = (tenantShare: number, metrics: Metrics) => ({
  admission: new IngestionAtOnce(tenantShare, metrics),
  shares: new RequestsInWork(tenantShare, metrics),
  streams: new ExportsAtOnce(metrics),
  eventStreams: new StreamsAtOnce(),
  addressLimits: new AttemptsOfAddress(metrics),
});

const openSignIn = (config: PlatformConfig, log: Logger, now: () => Date) => ({
  oauthFlows: new PendingFlows(config.secret, config.previousSecrets),
  signInRequests: new SignInRequests(config.secret, config.previousSecrets),
  signInProvider:
    config.oidc && openSignInProvider(config.oidc, { log, now, bounds: config.oidcBounds }),
});

/** Who reads the clocks of tenants. */
const clockTrail = { actor: 'clock', requestId: 'clock' };

const currentTime = (): Date => new Date();

/** Connects to the database, Temporal and the broker. */
export async function openPlatform(
  config: PlatformConfig,
  servers: PlatformServers,
): Promise<Platform> {
  const tracing = await openTracing(config.tracing);
  const log = openLog(config.logLevel, config.logTo, tracing && (() => tracing.ids()));
  tracing?.complainTo((message) => log.warn(message));
  const cells = await openCells(config, servers, { log, tracing });
  const { database, listen } = cells;
  const metrics = openMetrics(() => database.pools());
  const temporal = await openTemporal(servers.temporal, config.taskQueue ?? defaultTaskQueue, {
    log,
    hasMetrics: config.metrics !== undefined,
    payloadKeys: config.payloadKeys,
    secrets: { secret: config.secret, previousSecrets: config.previousSecrets ?? [] },
    unsignedUntil: config.unsignedUntil,
    tracing,
    onStarted: (workflow, isEager) =>
      metrics.workflowStarts.inc({ workflow, eager: String(isEager) }),
  });
  const untraced = await openBroker(config, database, listen, log);
  const broker = tracing === undefined ? untraced : traceBroker(untraced, tracing);
  const { tenantShare = tenantShareDefault, ingestEventsPerMinute, now = currentTime } = config;
  const box = secretBox(config.secret, config.previousSecrets);
  const tokens = await openTokenKeys(database.platform, box, config.publicUrl, {
    now,
    lifeMaxSeconds: config.tokenLifeMaxSeconds,
  });
  const { webhookSettings, webhooks } = openWebhooks(config, log);
  const invoices = openInvoiceRenderer();
  const parquet = openParquetWriter();
  const archive = openArchive(config.archive, parquet);
  return {
    config,
    log,
    metrics,
    tracing,
    ...cells,
    ownerOf: (cell) => servers.owners?.get(cell),
    temporal,
    broker,
    ...openShares(tenantShare, metrics),
    clients: new ClientAddresses(config.trustedProxies),
    tokens,
    authenticate: openAuthenticator(database.platform, tokens, now),
    credentialWatch: new CredentialWatch(database.platform, now),
    ...openSignIn(config, log, now),
    flowReplies: new FlowReplies(),
    secrets: box,
    webhooks,
    webhookSettings,
    invoices,
    parquet,
    archive,
    rateLimits: openRequestsPerMinute(database.platform, { ingestEventsPerMinute, log }),
    now,
    clocks: new TenantClocks((tenantId) => database.forTenant(tenantId, clockTrail), now),
    health: { areWorkersRunning: null, isEnding: false },
    async close() {
      await broker.close();
      await webhooks.close();
      await invoices.close();
      await archive?.close();
      await parquet.close();
      await temporal.close();
      await cells.close();
      await tracing?.close();
    },
  };
}
