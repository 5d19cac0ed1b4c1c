import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { variablesHelp } from '../../src/cli/variables.js';
import {
  readConfig,
  variableNames,
  type ConfigOverrides,
} from '../../src/platform/config/config.js';

const key = Buffer.alloc(32, 7).toString('base64');

type Expected = Record<string, unknown>;
const readings: [string, Record<string, string>, Expected, ConfigOverrides?][] = [
  [
    'nothing set',
    {},
    {
      role: 'all',
      host: '127.0.0.1',
      port: 3000,
      publicUrl: 'http://localhost:3000',
      dataDir: resolve('.durabill'),
      databaseUrl: undefined,
      databasePoolMax: 20,
      kafka: undefined,
      ingestTimeoutMs: 10_000,
      flowTimeoutMs: 30_000,
      ingestEventsPerMinute: undefined,
      tenantShare: 0.5,
      trustedProxies: [],
      maxConnections: 10_000,
      webhooks: { allowsPrivateAddresses: true },
      metrics: undefined,
      corsOrigins: [],
      payloadKeys: undefined,
      tracing: undefined,
      logLevel: 'info',
      secretKey: undefined,
      temporal: { address: undefined, namespace: 'default', tls: false, apiKey: undefined },
      isNpmScript: false,
    },
  ],
  ['a set but empty variable is missing', { PORT: '', DATABASE_URL: ' ' }, { port: 3000 }],
  ['spaces around a value', { PORT: ' 8080 ' }, { port: 8080 }],
  ['the issuer follows the port', { PORT: '8080' }, { publicUrl: 'http://localhost:8080' }],
  ['no slash at the end', { PUBLIC_URL: 'https://b.example/' }, { publicUrl: 'https://b.example' }],
  ['an option of the command line wins', { PORT: '1' }, { port: 2 }, { PORT: '2' }],
  ['an option that is not given does not', { PORT: '1' }, { port: 1 }, { PORT: undefined }],
  [
    'private addresses of webhooks are refused on a server',
    { DATABASE_URL: 'postgres://db.example/x' },
    { webhooks: { allowsPrivateAddresses: false } },
  ],
  [
    'private addresses of webhooks are refused where others reach the instance',
    { HOST: '0.0.0.0' },
    { host: '0.0.0.0', webhooks: { allowsPrivateAddresses: false } },
  ],
  [
    'private addresses of webhooks are allowed where only this machine reaches it',
    { HOST: 'localhost' },
    { host: 'localhost', webhooks: { allowsPrivateAddresses: true } },
  ],
  [
    'unless it says otherwise, webhooks',
    { DATABASE_URL: 'postgres://db.example/x', WEBHOOK_PRIVATE_ADDRESSES: 'true' },
    { webhooks: { allowsPrivateAddresses: true } },
  ],
  ['the share of a tenant', { TENANT_SHARE: '.25' }, { tenantShare: 0.25 }],
  ['all of it', { TENANT_SHARE: '1' }, { tenantShare: 1 }],
  [
    'proxies that are trusted',
    { TRUSTED_PROXIES: '10.0.0.7, 10.1.0.0/16,::1,fd00::/8' },
    { trustedProxies: ['10.0.0.7', '10.1.0.0/16', '::1', 'fd00::/8'] },
  ],
  ['connections', { MAX_CONNECTIONS: '500' }, { maxConnections: 500 }],
  ['a limit of ingestion', { INGEST_EVENTS_PER_MINUTE: '500' }, { ingestEventsPerMinute: 500 }],
  [
    'brokers of Kafka',
    { KAFKA_BROKERS: 'k:9092, [::1]:9093' },
    {
      kafka: {
        brokers: ['k:9092', '[::1]:9093'],
        prefix: '',
        tls: false,
        sasl: undefined,
        replication: undefined,
        retentionHours: undefined,
      },
    },
  ],
  [
    'all that may be said of Kafka',
    {
      KAFKA_BROKERS: 'k:9092',
      KAFKA_PREFIX: 'staging',
      KAFKA_TLS: 'true',
      KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512',
      KAFKA_USERNAME: 'u',
      KAFKA_PASSWORD: 'p',
      KAFKA_REPLICATION: '3',
      KAFKA_RETENTION_HOURS: '720',
    },
    {
      kafka: {
        brokers: ['k:9092'],
        prefix: 'staging',
        tls: true,
        sasl: { mechanism: 'SCRAM-SHA-512', username: 'u', password: 'p' },
        replication: 3,
        retentionHours: 720,
      },
    },
  ],
  [
    'origins of pages',
    { CORS_ORIGINS: 'https://a.example, http://localhost:5173' },
    { corsOrigins: ['https://a.example', 'http://localhost:5173'] },
  ],
  [
    'keys of what Temporal keeps: the first one writes',
    { TEMPORAL_PAYLOAD_KEYS: `2026:${key},2025:${key}` },
    {
      payloadKeys: {
        current: '2026',
        byId: new Map([
          ['2026', Buffer.alloc(32, 7)],
          ['2025', Buffer.alloc(32, 7)],
        ]),
      },
    },
  ],
  [
    'until when what is not sealed, or not signed, is accepted',
    {
      TEMPORAL_PAYLOAD_KEYS: `2026:${key}`,
      TEMPORAL_UNSEALED_UNTIL: '2026-12-01T00:00:00Z',
      TEMPORAL_UNSIGNED_UNTIL: '2026-12-02T00:00:00+01:00',
    },
    {
      payloadKeys: {
        current: '2026',
        byId: new Map([['2026', Buffer.alloc(32, 7)]]),
        unsealedUntil: new Date('2026-12-01T00:00:00Z'),
      },
      unsignedUntil: new Date('2026-12-01T23:00:00Z'),
    },
  ],
  [
    'metrics',
    { METRICS_PORT: '9464', METRICS_HOST: '0.0.0.0' },
    { metrics: { port: 9464, host: '0.0.0.0' } },
  ],
  [
    'one port for both where one process listens for metrics alone',
    { ROLE: 'worker', PORT: '3000', METRICS_PORT: '3000' },
    { metrics: { port: 3000, host: '127.0.0.1' } },
  ],
  [
    'traces, all of them unless it says otherwise',
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' },
    {
      tracing: {
        endpoint: 'http://collector:4318',
        protocol: 'http/protobuf',
        headers: {},
        resource: { 'service.name': 'durabill' },
        ratio: 1,
        isParentHeeded: true,
      },
    },
  ],
  [
    'a share of the traces, to a collector that wants a key',
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otel.example/x',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%2Cb, x=1',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=other',
      OTEL_SERVICE_NAME: 'billing',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    },
    {
      tracing: {
        endpoint: 'https://otel.example/x',
        protocol: 'http/json',
        headers: { 'api-key': 'a,b', x: '1' },
        resource: { 'deployment.environment.name': 'test', 'service.name': 'billing' },
        ratio: 0.25,
        isParentHeeded: false,
      },
    },
  ],
  ['no traces without an address', { OTEL_SERVICE_NAME: 'billing' }, { tracing: undefined }],
  ['a role', { ROLE: 'worker' }, { role: 'worker' }],
  ['cache folder', { XDG_CACHE_HOME: '/x' }, { cacheDir: '/x/durabill' }],
  ['cache folder in the home', { HOME: '/u' }, { cacheDir: '/u/.cache/durabill' }],
  ['a key', { SECRET_KEY: key }, { secretKey: key }],
  ['a new key, and the old one', { SECRET_KEY: `${key}, ${key}` }, { secretKey: `${key}, ${key}` }],
  ['below npm', { npm_lifecycle_event: 'start' }, { isNpmScript: true }],
  [
    'an API key implies TLS',
    { TEMPORAL_ADDRESS: 't.example:7233', TEMPORAL_API_KEY: 'k' },
    { temporal: { address: 't.example:7233', namespace: 'default', tls: true, apiKey: 'k' } },
  ],
  [
    'unless it says otherwise',
    { TEMPORAL_ADDRESS: '[::1]:7233', TEMPORAL_API_KEY: 'k', TEMPORAL_TLS: 'false' },
    { temporal: { address: '[::1]:7233', namespace: 'default', tls: false, apiKey: 'k' } },
  ],
];

const refusals: [Record<string, string>, string][] = [
  [{ PORT: 'abc' }, 'PORT is "abc": it must be a whole number from 1 to 65535.'],
  [{ PORT: '0' }, 'PORT is "0": it must be a whole number from 1 to 65535.'],
  [{ PORT: '65536' }, 'PORT is "65536": it must be a whole number from 1 to 65535.'],
  [{ PORT: '3e3' }, 'PORT is "3e3": it must be a whole number from 1 to 65535.'],
  [{ PORT: '-1' }, 'PORT is "-1": it must be a whole number from 1 to 65535.'],
  [{ PORT: '30.5' }, 'PORT is "30.5": it must be a whole number from 1 to 65535.'],
  [
    { WEBHOOK_PRIVATE_ADDRESSES: 'perhaps' },
    'WEBHOOK_PRIVATE_ADDRESSES is "perhaps": it must be true or false.',
  ],
  [
    { PORT: '3000', METRICS_PORT: '3000' },
    'METRICS_PORT and PORT are both 3000: metrics have a port of their own, which callers do not reach. Set METRICS_PORT to another one.',
  ],
  [
    { PORT: '3000', HOST: '0.0.0.0', METRICS_PORT: '3000' },
    'METRICS_PORT and PORT are both 3000: metrics have a port of their own, which callers do not reach. Set METRICS_PORT to another one.',
  ],
  [{ ROLE: 'both' }, 'ROLE is "both": it must be all, api or worker.'],
  [
    { HOST: 'http://x' },
    'HOST is "http://x": it must be a host name or IP address to listen on, such as 127.0.0.1 or 0.0.0.0.',
  ],
  [
    { LOG_LEVEL: 'loud' },
    'LOG_LEVEL is "loud": it must be fatal, error, warn, info, debug, trace or silent.',
  ],
  [
    { TEMPORAL_ADDRESS: 'https://t.example' },
    'TEMPORAL_ADDRESS is "https://t.example": it must be host:port, such as temporal.example:7233.',
  ],
  [
    { TEMPORAL_ADDRESS: 't.example:99999' },
    'TEMPORAL_ADDRESS is "t.example:99999": it must be host:port, such as temporal.example:7233.',
  ],
  [
    { TEMPORAL_ADDRESS: 't:1', TEMPORAL_TLS: 'yes' },
    'TEMPORAL_TLS is "yes": it must be true or false.',
  ],
  [
    { TEMPORAL_API_KEY: 'k' },
    'TEMPORAL_API_KEY is set, but TEMPORAL_ADDRESS is not: set the address it belongs to, or unset it.',
  ],
  [
    { PUBLIC_URL: 'billing.example' },
    'PUBLIC_URL is "billing.example": it must be an address such as https://billing.example without query or fragment.',
  ],
  [
    { INGEST_TIMEOUT_MS: '10s' },
    'INGEST_TIMEOUT_MS is "10s": it must be a whole number of milliseconds from 1 to 600000.',
  ],
  [
    { DATABASE_POOL_MAX: '1' },
    'DATABASE_POOL_MAX is "1": it must be a whole number of connections from 2 to 1000.',
  ],
  [
    { KAFKA_BROKERS: 'k:9092,l' },
    'KAFKA_BROKERS is "k:9092,l": it must be host:port, several with commas, such as kafka-1:9092,kafka-2:9092.',
  ],
  [
    { KAFKA_RETENTION_HOURS: '48' },
    'KAFKA_RETENTION_HOURS is set, but KAFKA_BROKERS is not: set the address it belongs to, or unset it.',
  ],
  [
    { KAFKA_BROKERS: 'k:9092', KAFKA_USERNAME: 'u' },
    'KAFKA_SASL_MECHANISM and KAFKA_PASSWORD are not set: to sign in to Kafka, KAFKA_SASL_MECHANISM, KAFKA_USERNAME, KAFKA_PASSWORD belong together.',
  ],
  [
    { KAFKA_BROKERS: 'k:9092', KAFKA_PREFIX: 'a.b' },
    'KAFKA_PREFIX is "a.b": it must be up to 40 letters, digits and dashes.',
  ],
  // A value that may hold a secret is not shown.
  [
    { DATABASE_URL: 'mysql://u:secret@h/d' },
    'DATABASE_URL is not valid: it must be an address such as postgres://user:password@host:5432/database.',
  ],
  [
    { DIRECT_DATABASE_URL: 'postgres://u:secret@h/d' },
    'DIRECT_DATABASE_URL is set, but DATABASE_URL is not: set the address that processes use, too.',
  ],
  [
    { DATABASE_URL: 'postgres://u:secret@h/d', CELLS: 'home=postgres://u:secret@h/d' },
    "CELLS is not valid: it must be names and addresses such as eu1=postgres://user:password@host:5432/database, several with commas; names are lower-case letters, digits and dashes, and not 'home'.",
  ],
  [
    { DATABASE_URL: 'postgres://u@h/d', CELLS: 'a=postgres://u@h/d,a=postgres://u@h/e' },
    "CELLS is not valid: it must be names and addresses such as eu1=postgres://user:password@host:5432/database, several with commas; names are lower-case letters, digits and dashes, and not 'home'.",
  ],
  [
    {
      DATABASE_URL: 'postgres://u@h/d',
      CELLS: 'a=postgres://u@h/d',
      CELL_OWNERS: 'b=postgres://o@h/d',
    },
    "CELL_OWNERS names the cell 'b', but CELLS does not: add b=postgres://… to CELLS.",
  ],
  [
    { CELLS: 'a=postgres://u@h/d' },
    'CELLS is set, but DATABASE_URL is not: set the home database, which keeps tenants and keys.',
  ],
  [
    { CORS_ORIGINS: 'https://a.example/path' },
    'CORS_ORIGINS is "https://a.example/path": it must be origins such as https://console.example, several with commas.',
  ],
  [
    { CORS_ORIGINS: '*' },
    'CORS_ORIGINS is "*": it must be origins such as https://console.example, several with commas.',
  ],
  // Two keys of one id, and one that is too short; neither is shown.
  ...[`a:${key},a:${key}`, `a:${key.slice(4)}`].map((given): [Record<string, string>, string] => [
    { TEMPORAL_PAYLOAD_KEYS: given },
    'TEMPORAL_PAYLOAD_KEYS is not valid: it must be id:key, several with commas, each key 32 random bytes in base64; the first one writes.',
  ]),
  [
    { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    'OTEL_EXPORTER_OTLP_PROTOCOL is "grpc": it must be http/protobuf or http/json.',
  ],
  [
    { OTEL_TRACES_SAMPLER_ARG: '1.5' },
    'OTEL_TRACES_SAMPLER_ARG is "1.5": it must be a number from 0 to 1.',
  ],
  [
    { OTEL_EXPORTER_OTLP_HEADERS: 'key=%zz' },
    'OTEL_EXPORTER_OTLP_HEADERS is not valid: it must be name=value, several with commas, values percent-encoded.',
  ],
  [
    { SECRET_KEY: 'short' },
    'SECRET_KEY is not valid: it must be 32 random bytes in base64 (openssl rand -base64 32), several with commas; the first one seals.',
  ],
  // Several at once: one line each.
  [
    { ROLE: 'x', PORT: 'y' },
    'PORT is "y": it must be a whole number from 1 to 65535.\nROLE is "x": it must be all, api or worker.',
  ],
];

describe('configuration', () => {
  for (const [name, env, expected, overrides] of readings) {
    it(name, () => {
      expect(readConfig(env, overrides)).to.deep.include(expected);
    });
  }

  for (const [env, message] of refusals) {
    // spec/platform.md R48
    it(`refuses ${JSON.stringify(env)}`, () => {
      expect(() => readConfig(env))
        .to.throw(message)
        .with.property('message', message);
    });
  }

  it('has each of its variables named by the help', () => {
    const named = variablesHelp.match(/[A-Z]+(?:_[A-Z]+)+|PORT|HOST|ROLE|CELLS/g) ?? [];
    const known = named.filter((name) => !name.endsWith('_FILE'));
    expect([...new Set(known)].sort()).to.deep.equal([...variableNames].sort());
  });

  // spec/platform.md R48
  it('has each of its variables explained by README', () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    const rows = readme.match(/^\| `[A-Z].*$/gm)?.join('\n') ?? '';
    expect(variableNames.filter((name) => !rows.includes(`\`${name}\``))).to.deep.equal([]);
  });

  it('does not read the environment by itself', () => {
    expect(readConfig({}).searchPath).to.equal('');
  });
});
