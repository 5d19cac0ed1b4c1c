import { Type, type Static } from 'typebox';
import { ArchiveEnvironment } from './config-archive.js';
import { DatabaseEnvironment } from './config-database.js';
import { OidcEnvironment } from './config-oidc.js';
import { TelemetryEnvironment } from './config-telemetry.js';
import { TemporalTrustEnvironment } from './config-temporal.js';

/** `description` completes the sentence "PORT is ... It must be <description>." */
export const Environment = Type.Object({
  PORT: Type.Integer({
    minimum: 1,
    maximum: 65535,
    default: 3000,
    description: 'a whole number from 1 to 65535',
  }),
  // Loopback, because the start prints an administrator's token and the embedded servers are for
  // one machine. Containers set 0.0.0.0.
  HOST: Type.String({
    pattern: '^[A-Za-z0-9.:_-]+$',
    default: '127.0.0.1',
    description: 'a host name or IP address to listen on, such as 127.0.0.1 or 0.0.0.0',
  }),
  DATA_DIR: Type.String({ default: './.durabill', description: 'a folder' }),
  ...DatabaseEnvironment.properties,
  TEMPORAL_ADDRESS: Type.Optional(
    Type.String({ format: 'host-port', description: 'host:port, such as temporal.example:7233' }),
  ),
  TEMPORAL_NAMESPACE: Type.String({
    pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$',
    default: 'default',
    description: 'the name of a Temporal namespace (letters, digits, dots, dashes)',
  }),
  TEMPORAL_TLS: Type.Optional(Type.Boolean({ description: 'true or false' })),
  TEMPORAL_API_KEY: Type.Optional(
    Type.String({ pattern: '^\\S+$', description: 'an API key without spaces' }),
  ),
  KAFKA_BROKERS: Type.Optional(
    Type.String({
      format: 'host-ports',
      description: 'host:port, several with commas, such as kafka-1:9092,kafka-2:9092',
    }),
  ),
  KAFKA_PREFIX: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9-]{1,40}$',
      description: 'up to 40 letters, digits and dashes',
    }),
  ),
  KAFKA_TLS: Type.Optional(Type.Boolean({ description: 'true or false' })),
  KAFKA_SASL_MECHANISM: Type.Optional(
    Type.Union(
      [Type.Literal('PLAIN'), Type.Literal('SCRAM-SHA-256'), Type.Literal('SCRAM-SHA-512')],
      { description: 'PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512' },
    ),
  ),
  KAFKA_USERNAME: Type.Optional(Type.String({ description: 'a name' })),
  KAFKA_PASSWORD: Type.Optional(Type.String({ description: 'a password' })),
  KAFKA_REPLICATION: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: 'a whole number from 1 to 100' }),
  ),
  KAFKA_RETENTION_HOURS: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'a whole number of hours from 1 to 1000000',
    }),
  ),
  ...ArchiveEnvironment.properties,
  ROLE: Type.Union([Type.Literal('all'), Type.Literal('api'), Type.Literal('worker')], {
    default: 'all',
    description: 'all, api or worker',
  }),
  PUBLIC_URL: Type.Optional(
    Type.String({
      format: 'http-url',
      description: 'an address such as https://billing.example without query or fragment',
    }),
  ),
  INGEST_TIMEOUT_MS: Type.Integer({
    minimum: 1,
    maximum: 600_000,
    default: 10_000,
    description: 'a whole number of milliseconds from 1 to 600000',
  }),
  INGEST_EVENTS_PER_MINUTE: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      description: 'a whole number of usage events from 1 to 1000000000',
    }),
  ),
  TOKEN_LIFE_MAX: Type.String({
    format: 'token-life',
    default: '90d',
    description: 'a duration from 1m to 366d, such as 12h or 90d',
  }),
  ...OidcEnvironment.properties,
  FLOW_TIMEOUT_MS: Type.Integer({
    minimum: 1,
    maximum: 600_000,
    default: 30_000,
    description: 'a whole number of milliseconds from 1 to 600000',
  }),
  TENANT_SHARE: Type.String({
    pattern: '^(1|0?\\.[0-9]{1,6})$',
    format: 'share-above-0',
    default: '0.5',
    description: 'a number above 0, at most 1, such as 0.5',
  }),
  TRUSTED_PROXIES: Type.Optional(
    Type.String({
      format: 'address-ranges',
      description: 'addresses or ranges of them, several with commas, such as 10.0.0.7,10.1.0.0/16',
    }),
  ),
  MAX_CONNECTIONS: Type.Integer({
    minimum: 10,
    maximum: 1_000_000,
    default: 10_000,
    description: 'a whole number of connections from 10 to 1000000',
  }),
  WEBHOOK_PRIVATE_ADDRESSES: Type.Optional(Type.Boolean({ description: 'true or false' })),
  METRICS_PORT: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 65535, description: 'a whole number from 1 to 65535' }),
  ),
  METRICS_HOST: Type.String({
    pattern: '^[A-Za-z0-9.:_-]+$',
    default: '127.0.0.1',
    description: 'a host name or IP address to listen on, such as 127.0.0.1 or 0.0.0.0',
  }),
  CORS_ORIGINS: Type.Optional(
    Type.String({
      format: 'origins',
      description: 'origins such as https://console.example, several with commas',
    }),
  ),
  ...TemporalTrustEnvironment.properties,
  ...TelemetryEnvironment.properties,
  LOG_LEVEL: Type.Union(
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'].map((level) =>
      Type.Literal(level),
    ),
    { default: 'info', description: 'fatal, error, warn, info, debug, trace or silent' },
  ),
  SECRET_KEY: Type.Optional(
    Type.String({
      format: 'keys-of-32-bytes',
      description:
        '32 random bytes in base64 (openssl rand -base64 32), several with commas; the first one seals',
    }),
  ),
});

export type Environment = Static<typeof Environment>;
