/**
 * Every variable that says something to Durabill, for `--help`. Written out, because reading the
 * configuration's schema would make each help slow; a test compares them.
 */
const groups: readonly (readonly [about: string, names: string])[] = [
  ['This process', 'ROLE PORT HOST PUBLIC_URL DATA_DIR LOG_LEVEL MAX_CONNECTIONS'],
  [
    'Database',
    'DATABASE_URL DATABASE_OWNER_URL DIRECT_DATABASE_URL CELLS CELL_OWNERS DIRECT_CELLS ' +
      'DATABASE_POOL_MAX',
  ],
  [
    'Temporal',
    'TEMPORAL_ADDRESS TEMPORAL_NAMESPACE TEMPORAL_TLS TEMPORAL_API_KEY TEMPORAL_PAYLOAD_KEYS ' +
      'TEMPORAL_UNSEALED_UNTIL TEMPORAL_UNSIGNED_UNTIL',
  ],
  [
    'Kafka',
    'KAFKA_BROKERS KAFKA_PREFIX KAFKA_REPLICATION KAFKA_RETENTION_HOURS KAFKA_TLS ' +
      'KAFKA_SASL_MECHANISM KAFKA_USERNAME KAFKA_PASSWORD',
  ],
  [
    'Archive',
    'ARCHIVE_URL ARCHIVE_ENDPOINT ARCHIVE_REGION ARCHIVE_ACCESS_KEY_ID ' +
      'ARCHIVE_SECRET_ACCESS_KEY',
  ],
  [
    'Limits',
    'INGEST_TIMEOUT_MS INGEST_EVENTS_PER_MINUTE FLOW_TIMEOUT_MS TENANT_SHARE TOKEN_LIFE_MAX',
  ],
  ['Trust', 'SECRET_KEY TRUSTED_PROXIES CORS_ORIGINS WEBHOOK_PRIVATE_ADDRESSES'],
  [
    'Sign-in',
    'OIDC_ISSUER OIDC_CLIENT_ID OIDC_CLIENT_SECRET OIDC_SCOPES OIDC_TENANT OIDC_TENANT_CLAIM ' +
      'OIDC_ROLES_CLAIM OIDC_ROLES OIDC_ACTOR_CLAIM OIDC_SESSION_MAX',
  ],
  ['Metrics', 'METRICS_PORT METRICS_HOST'],
  [
    'Traces',
    'OTEL_EXPORTER_OTLP_ENDPOINT OTEL_EXPORTER_OTLP_PROTOCOL OTEL_EXPORTER_OTLP_HEADERS ' +
      'OTEL_SERVICE_NAME OTEL_RESOURCE_ATTRIBUTES OTEL_TRACES_SAMPLER OTEL_TRACES_SAMPLER_ARG',
  ],
];

const lineLength = 96;
const indent = ' '.repeat(12);

function renderGroup([about, names]: readonly [string, string]): string {
  const lines = [`  ${about}`.padEnd(indent.length)];
  for (const name of names.split(' ')) {
    const last = lines.at(-1) ?? '';
    const separator = last.length === indent.length && lines.length === 1 ? '' : ' ';
    const isFull = last.length + separator.length + name.length > lineLength;
    if (isFull) lines.push(`${indent}${name}`);
    else lines[lines.length - 1] = `${last}${separator}${name}`;
  }
  return lines.join('\n');
}

/** The variables by subject, as text below a help. */
export const variablesHelp = `
Settings are read from the environment and from .env; README.md says what each means. What is missing
is embedded or has its default; what is wrong stops the start. A secret may stand in a file that
SECRET_KEY_FILE, DATABASE_URL_FILE and the like name.

${groups.map(renderGroup).join('\n')}`;
