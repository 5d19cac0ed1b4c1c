import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'dotenv';
import { durationSeconds } from '../../kernel/time/duration.js';
import { areKeysById, isInstant, temporalTrust } from './config-temporal.js';
import {
  hasProtocol,
  isAddressRange,
  isHostPort,
  refuseSharedPort,
  tokenLifeCeilingSeconds,
} from './config-forms.js';
import { archiveSettings, isArchiveUrl, refuseHalfAKey } from './config-archive.js';
import { cellsOf, readCells, refuseAddressAlone, refuseLoneCells } from './config-database.js';
import { Environment } from './config-environment.js';
import { withSecretFiles } from './config-files.js';
import {
  isOidcIssuer,
  isSessionLife,
  oidcSettings,
  readRoleNames,
  refuseHalfAProvider,
} from './config-oidc.js';
import { isKeyValues, tracingSettings } from './config-telemetry.js';
import { StartupError, errorCode, firstLine } from '../startup-error.js';

export type VariableName = keyof Environment;

/** Every variable that says something to Durabill. */
export const variableNames: readonly string[] = Object.keys(Environment.properties);

/** What process.env is: any name, any text, perhaps nothing. */
export type RawEnvironment = Readonly<Record<string, string | undefined>>;
export type ConfigOverrides = Readonly<Partial<Record<VariableName, string | undefined>>>;
export type Config = Readonly<ReturnType<typeof readConfig>>;

/** Variables that no message repeats, and that may stand in files: `SECRET_KEY_FILE`. */
export const secretNames: ReadonlySet<string> = new Set([
  'CELLS',
  'CELL_OWNERS',
  'DATABASE_OWNER_URL',
  'DATABASE_URL',
  'DIRECT_CELLS',
  'DIRECT_DATABASE_URL',
  'TEMPORAL_API_KEY',
  'TEMPORAL_PAYLOAD_KEYS',
  'SECRET_KEY',
  'KAFKA_PASSWORD',
  'ARCHIVE_SECRET_ACCESS_KEY',
  'OIDC_CLIENT_SECRET',
  'OTEL_EXPORTER_OTLP_HEADERS',
]);

const ajv = new Ajv2020({ allErrors: true, useDefaults: true });
ajv.addFormat('postgres-url', (text) => hasProtocol(text, ['postgres:', 'postgresql:']));
ajv.addFormat('cells', (text) => readCells(text) !== undefined);
ajv.addFormat('http-url', (text) => {
  return hasProtocol(text, ['http:', 'https:']) && !/[?#]/.test(text);
});
ajv.addFormat('host-port', isHostPort);
ajv.addFormat('host-ports', (text) => hostPorts(text).every(isHostPort));
ajv.addFormat('keys-of-32-bytes', (text) => {
  return text.split(',').every((key) => /^[A-Za-z0-9+/]{43}=$/.test(key.trim()));
});
ajv.addFormat('key-values', isKeyValues);
ajv.addFormat('token-life', (text) => {
  const seconds = durationSeconds(text);
  return seconds !== undefined && seconds >= 60 && seconds <= tokenLifeCeilingSeconds;
});
ajv.addFormat('share', (text) => Number(text) <= 1);
ajv.addFormat('share-above-0', (text) => Number(text) > 0 && Number(text) <= 1);
ajv.addFormat('address-ranges', (text) => listOf(text).every(isAddressRange));
ajv.addFormat('origins', (text) =>
  listOf(text).every((one) => hasProtocol(one, ['http:', 'https:']) && new URL(one).origin === one),
);
ajv.addFormat('keys-by-id', areKeysById);
ajv.addFormat('instant', isInstant);
ajv.addFormat('archive-url', isArchiveUrl);
ajv.addFormat('oidc-issuer', isOidcIssuer);
ajv.addFormat('oidc-scopes', (text) => text.split(/\s+/).includes('openid'));
ajv.addFormat('role-names', (text) => readRoleNames(text) !== undefined);
ajv.addFormat('session-life', isSessionLife);
const isEnvironment = ajv.compile<Environment>(Environment);

/**
 * The configuration that these variables ask for. Pure: it reads no file and no environment of its
 * own, so that a table can test it. `overrides` are the options of the command line, which win.
 * A set but empty variable counts as missing (docker compose sets `X: ${X:-}` that way).
 */
export function readConfig(env: RawEnvironment, overrides: ConfigOverrides = {}) {
  const given: Record<string, unknown> = {};
  for (const name of Object.keys(Environment.properties)) {
    const text = textOf(overrides[name as VariableName]) ?? textOf(env[name]);
    if (text !== undefined) given[name] = valueOf(name, text);
  }
  const values = checked(given);
  refuseContradictions(values);
  const home = textOf(env['HOME']) ?? homedir();
  return {
    role: values.ROLE,
    host: values.HOST,
    port: values.PORT,
    publicUrl: (values.PUBLIC_URL ?? `http://localhost:${values.PORT}`).replace(/\/+$/, ''),
    dataDir: resolve(values.DATA_DIR),
    /** Where downloaded or built programs stay, shared by every data folder of this person. */
    cacheDir: resolve(textOf(env['XDG_CACHE_HOME']) ?? join(home, '.cache'), 'durabill'),
    databaseUrl: values.DATABASE_URL,
    /** The owner of the tables, for migrations and commands, where processes have a login of their own. */
    databaseOwnerUrl: values.DATABASE_OWNER_URL,
    /** PostgreSQL itself, where `databaseUrl` is the address of a pooler. */
    directDatabaseUrl: values.DIRECT_DATABASE_URL,
    /** The servers beside it that tenants may be in (docs/decisions/0360). */
    cells: cellsOf(values),
    /** Connections to each server. */
    databasePoolMax: values.DATABASE_POOL_MAX,
    temporal: {
      address: values.TEMPORAL_ADDRESS,
      namespace: values.TEMPORAL_NAMESPACE,
      tls: values.TEMPORAL_TLS ?? values.TEMPORAL_API_KEY !== undefined,
      apiKey: values.TEMPORAL_API_KEY,
    },
    kafka: kafkaSettings(values),
    /** Where months of usage are archived; undefined: nowhere. */
    archive: archiveSettings(values),
    ingestTimeoutMs: values.INGEST_TIMEOUT_MS,
    /** Usage events that a tenant may send in a minute; undefined: any number. */
    ingestEventsPerMinute: values.INGEST_EVENTS_PER_MINUTE,
    /** How long a request waits for the end of its workflow (docs/decisions/0065). */
    flowTimeoutMs: values.FLOW_TIMEOUT_MS,
    /** What one tenant may take of a process while others want to work (docs/decisions/0171). */
    tenantShare: Number(values.TENANT_SHARE),
    /** Proxies whose `X-Forwarded-For` is believed (docs/decisions/0172). */
    trustedProxies: listOf(values.TRUSTED_PROXIES ?? ''),
    maxConnections: values.MAX_CONNECTIONS,
    /** How long a token may live. */
    tokenLifeMaxSeconds: durationSeconds(values.TOKEN_LIFE_MAX),
    /** Where people of an organization sign in; undefined: nowhere. */
    oidc: oidcSettings(values),
    webhooks: {
      /** An instance that only its own machine reaches may tell the services of that machine. */
      allowsPrivateAddresses:
        values.WEBHOOK_PRIVATE_ADDRESSES ??
        (values.DATABASE_URL === undefined && isLoopback(values.HOST)),
    },
    /** Where operators read metrics and health: not where tenants are (docs/decisions/0140). */
    metrics:
      values.METRICS_PORT === undefined
        ? undefined
        : { host: values.METRICS_HOST, port: values.METRICS_PORT },
    /** Pages of these origins may read answers; of no others. */
    corsOrigins: listOf(values.CORS_ORIGINS ?? ''),
    ...temporalTrust(values),
    /** Where traces go; undefined: nowhere, and nothing of them is loaded (docs/decisions/0154). */
    tracing: tracingSettings(values),
    logLevel: values.LOG_LEVEL,
    /** As `readSecretKeys` reads it; when missing, `readOrCreateSecret` keeps one in the data folder. */
    secretKey: values.SECRET_KEY,
    searchPath: env['PATH'] ?? '',
    isNpmScript: env['npm_lifecycle_event'] !== undefined,
  };
}

/** Whether who listens there is reached from this machine alone. */
const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host);

const listOf = (text: string): readonly string[] =>
  text === '' ? [] : text.split(',').map((one) => one.trim());

/** The configuration of this process: `.env` of the working directory, then the environment. */
export function loadConfig(overrides: ConfigOverrides = {}): Config {
  const env = withSecretFiles({ ...readDotEnv('.env'), ...process.env }, secretNames);
  return readConfig(env, overrides);
}

/** The environment for a program that we start. TEMPORAL_ and PG variables would steer it. */
export function childEnvironment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(TEMPORAL_|PG)/.test(name));
  return { ...Object.fromEntries(inherited), ...extra };
}

/** What a process of ours needs that must know no secrets: how to run, and whom to trust. */
const bareVariables = [
  'PATH',
  'TZ',
  'LANG',
  'NODE_OPTIONS',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];

/** The environment for a process of ours that talks to strangers. */
export const bareEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => bareVariables.includes(name)));

function readDotEnv(path: string): RawEnvironment {
  try {
    return parse(readFileSync(path));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return {};
    throw new StartupError(`Cannot read ${resolve(path)}: ${firstLine(error)}`);
  }
}

function textOf(value: string | undefined): string | undefined {
  const text = value?.trim();
  return text === '' ? undefined : text;
}

/** Numbers and booleans as such, where the text is one; any other text fails the schema. */
function valueOf(name: string, text: string): unknown {
  const schema: object | undefined = Environment.properties[name as VariableName];
  const type = schema !== undefined && 'type' in schema ? schema.type : undefined;
  if (type === 'integer' && /^\d{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean' && /^(true|1)$/i.test(text)) return true;
  if (type === 'boolean' && /^(false|0)$/i.test(text)) return false;
  return text;
}

/** One line for each wrong variable, in the order in which they are declared. */
function checked(given: Record<string, unknown>): Environment {
  const copy: unknown = { ...given };
  if (isEnvironment(copy)) return copy;
  const wrong = new Set(isEnvironment.errors?.map(({ instancePath }) => instancePath.slice(1)));
  const lines = Object.entries(Environment.properties)
    .filter(([name]) => wrong.has(name))
    .map(([name, schema]) => {
      const shown = secretNames.has(name) ? 'not valid' : JSON.stringify(String(given[name]));
      const allowed = 'description' in schema ? String(schema.description) : 'of another form';
      return `${name} is ${shown}: it must be ${allowed}.`;
    });
  throw new StartupError(lines.join('\n'));
}

/** The variables that say something about a server, and the one that says where it is. */
const belonging = {
  TEMPORAL_ADDRESS: ['TEMPORAL_TLS', 'TEMPORAL_API_KEY'],
  KAFKA_BROKERS: [
    'KAFKA_PREFIX',
    'KAFKA_TLS',
    'KAFKA_SASL_MECHANISM',
    'KAFKA_USERNAME',
    'KAFKA_PASSWORD',
    'KAFKA_REPLICATION',
    'KAFKA_RETENTION_HOURS',
  ],
  ARCHIVE_URL: [
    'ARCHIVE_ENDPOINT',
    'ARCHIVE_REGION',
    'ARCHIVE_ACCESS_KEY_ID',
    'ARCHIVE_SECRET_ACCESS_KEY',
  ],
  OIDC_ISSUER: [
    'OIDC_CLIENT_ID',
    'OIDC_CLIENT_SECRET',
    'OIDC_SCOPES',
    'OIDC_TENANT',
    'OIDC_TENANT_CLAIM',
    'OIDC_ROLES_CLAIM',
    'OIDC_ROLES',
    'OIDC_ACTOR_CLAIM',
    'OIDC_SESSION_MAX',
  ],
} as const;

function refuseContradictions(values: Environment): void {
  for (const address of Object.keys(belonging) as (keyof typeof belonging)[]) {
    for (const name of belonging[address]) {
      if (values[name] !== undefined && values[address] === undefined) {
        throw new StartupError(
          `${name} is set, but ${address} is not: set the address it belongs to, or unset it.`,
        );
      }
    }
  }
  refuseAddressAlone(values);
  refuseLoneCells(values);
  refuseSharedPort(values);
  refuseHalfAKey(values);
  refuseHalfAProvider(values);
  const sasl = ['KAFKA_SASL_MECHANISM', 'KAFKA_USERNAME', 'KAFKA_PASSWORD'] as const;
  const missing = sasl.filter((name) => values[name] === undefined);
  if (missing.length > 0 && missing.length < sasl.length) {
    throw new StartupError(
      `${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} not set: to sign in to Kafka, ` +
        `${sasl.join(', ')} belong together.`,
    );
  }
}

function kafkaSettings(values: Environment) {
  if (values.KAFKA_BROKERS === undefined) return undefined;
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_USERNAME: username } = values;
  const { KAFKA_PASSWORD: password } = values;
  const hasSasl = mechanism !== undefined && username !== undefined && password !== undefined;
  return {
    brokers: hostPorts(values.KAFKA_BROKERS),
    prefix: values.KAFKA_PREFIX ?? '',
    tls: values.KAFKA_TLS ?? false,
    sasl: hasSasl ? { mechanism, username, password } : undefined,
    replication: values.KAFKA_REPLICATION,
    retentionHours: values.KAFKA_RETENTION_HOURS,
  };
}

function hostPorts(text: string): string[] {
  return text.split(',').map((each) => each.trim());
}
