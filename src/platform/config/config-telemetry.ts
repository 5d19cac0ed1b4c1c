import { Type, type Static } from 'typebox';
import type { TracingSettings } from '../tracing.js';

const samplers = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
];

/** The variables of OpenTelemetry that Durabill heeds, by their standard names. */
export const TelemetryEnvironment = Type.Object({
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(
    Type.String({
      format: 'http-url',
      description: 'an address such as http://collector:4318 without query or fragment',
    }),
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: Type.Union(
    [Type.Literal('http/protobuf'), Type.Literal('http/json')],
    { default: 'http/protobuf', description: 'http/protobuf or http/json' },
  ),
  OTEL_EXPORTER_OTLP_HEADERS: Type.Optional(
    Type.String({
      format: 'key-values',
      description: 'name=value, several with commas, values percent-encoded',
    }),
  ),
  OTEL_SERVICE_NAME: Type.String({ default: 'durabill', description: 'a name' }),
  OTEL_RESOURCE_ATTRIBUTES: Type.Optional(
    Type.String({
      format: 'key-values',
      description: 'name=value, several with commas, values percent-encoded',
    }),
  ),
  OTEL_TRACES_SAMPLER: Type.String({
    pattern: `^(${samplers.join('|')})$`,
    default: 'parentbased_always_on',
    description: `one of ${samplers.join(', ')}`,
  }),
  OTEL_TRACES_SAMPLER_ARG: Type.Optional(
    Type.String({
      pattern: '^(0|1|[01]?\\.[0-9]{1,15})$',
      format: 'share',
      description: 'a number from 0 to 1',
    }),
  ),
});

/** `name=value,...` as the specification of OpenTelemetry writes it, values percent-encoded. */
export function keyValues(text: string): Record<string, string> {
  const pairs = text.split(',').map((pair) => {
    const [, name = '', value = ''] = /^\s*([^\s=]+)\s*=(.*)$/.exec(pair) ?? [];
    return [name, decodeURIComponent(value.trim())];
  });
  return Object.fromEntries(pairs) as Record<string, string>;
}

export function isKeyValues(text: string): boolean {
  try {
    return !('' in keyValues(text));
  } catch {
    return false;
  }
}

function ratioOf(values: Static<typeof TelemetryEnvironment>): number {
  const sampler = values.OTEL_TRACES_SAMPLER.replace('parentbased_', '');
  if (sampler === 'traceidratio') return Number(values.OTEL_TRACES_SAMPLER_ARG ?? 1);
  return sampler === 'always_on' ? 1 : 0;
}

/** Undefined: nothing is traced. */
export function tracingSettings(
  values: Static<typeof TelemetryEnvironment>,
): TracingSettings | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = values;
  if (endpoint === undefined) return undefined;
  return {
    endpoint,
    protocol: values.OTEL_EXPORTER_OTLP_PROTOCOL,
    headers: keyValuesOf(values.OTEL_EXPORTER_OTLP_HEADERS),
    resource: {
      ...keyValuesOf(values.OTEL_RESOURCE_ATTRIBUTES),
      'service.name': values.OTEL_SERVICE_NAME,
    },
    ratio: ratioOf(values),
    isParentHeeded: values.OTEL_TRACES_SAMPLER.startsWith('parentbased_'),
  };
}

const keyValuesOf = (text: string | undefined): Record<string, string> =>
  text === undefined ? {} : keyValues(text);
