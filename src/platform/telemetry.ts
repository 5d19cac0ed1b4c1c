import { AsyncLocalStorage } from 'node:async_hooks';
import {
  diag,
  DiagLogLevel,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span,
  type SpanContext,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type IdGenerator,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import { defined } from '../kernel/defined.js';
import type { LiveSpan, SpanAttributes, SpanStart, Tracing, TracingSettings } from './tracing.js';

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
} as const;

/** Time for the export of spans during the shutdown of a process. */
const exportMsMax = 5_000;
/**
 * Capacity for the spans of a busy second: rating a thousand events makes some thirty, a request
 * ten.
 */
const queueMax = 16_384;
const linksMax = 128;

/** Random ids, unless a span's id is given because others refer to it. */
class KnownIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  traceId: string | undefined;
  spanId: string | undefined;

  generateTraceId(): string {
    return this.traceId ?? this.#random.generateTraceId();
  }

  generateSpanId(): string {
    return this.spanId ?? this.#random.generateSpanId();
  }
}

async function openExporter({
  endpoint,
  protocol,
  headers,
}: TracingSettings): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  return new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: exportMsMax });
}

const typeOf = (error: unknown): string => {
  const { code, name } = error as { readonly code?: unknown; readonly name?: string };
  return typeof code === 'string' ? code : (name ?? 'Error');
};

function attributesOf(attributes: SpanAttributes = {}): Record<string, string | number> {
  const known = Object.entries(attributes).filter(
    (entry): entry is [string, string | number] => entry[1] !== undefined,
  );
  return Object.fromEntries(known);
}

function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** The SDK logs errors as JSON, with their stacks. */
function messageOf(text: string): string {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    return typeof message === 'string' ? message : text;
  } catch {
    return text;
  }
}

const contextOf = (traceparent: string): Context => {
  const remote = parseTraceParent(traceparent);
  return remote === null
    ? ROOT_CONTEXT
    : trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true });
};

/**
 * The traces of this process, by OpenTelemetry's SDK. The active span is in a context storage of
 * our own, and nothing is registered globally: several instances may run in one process, as in
 * tests.
 */
export async function openTelemetry(settings: TracingSettings): Promise<Tracing> {
  const ids = new KnownIds();
  const ratio = new TraceIdRatioBasedSampler(settings.ratio);
  const exporter = await openExporter(settings);
  const provider = new TracerProvider({
    idGenerator: ids,
    sampler: settings.isParentHeeded ? new ParentBasedSampler({ root: ratio }) : ratio,
    resource: defaultResource().merge(resourceFromAttributes({ ...settings.resource })),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: queueMax,
        scheduledDelayMillis: 1_000,
        exportTimeoutMillis: exportMsMax,
      }),
    ],
  });
  return new Telemetry(provider, ids);
}

class Telemetry implements Tracing {
  readonly #provider: TracerProvider;
  readonly #ids: KnownIds;
  readonly #contexts = new AsyncLocalStorage<Context>();

  constructor(provider: TracerProvider, ids: KnownIds) {
    this.#provider = provider;
    this.#ids = ids;
  }

  get #context(): Context {
    return this.#contexts.getStore() ?? ROOT_CONTEXT;
  }

  get #spanContext(): SpanContext | undefined {
    return trace.getSpanContext(this.#context);
  }

  #start(start: SpanStart & { readonly spanId?: string; readonly startedAt?: Date }): Span {
    const { name, kind, attributes, parent, traceId, spanId, startedAt } = start;
    const context = parent === undefined ? this.#context : contextOf(parent);
    this.#ids.traceId = traceId;
    this.#ids.spanId = spanId;
    try {
      return this.#provider.getTracer('durabill').startSpan(
        name,
        {
          kind: kind === undefined ? SpanKind.INTERNAL : kinds[kind],
          attributes: attributesOf(attributes),
          ...defined({ startTime: startedAt }),
        },
        context,
      );
    } finally {
      this.#ids.traceId = undefined;
      this.#ids.spanId = undefined;
    }
  }

  async inSpan<T>(start: SpanStart, work: (span: LiveSpan) => Promise<T>): Promise<T> {
    const span = this.#start(start);
    const live: LiveSpan = {
      rename: (name) => span.updateName(name),
      set: (attributes) => span.setAttributes(attributesOf(attributes)),
      fail: (type) => fail(span, type),
    };
    try {
      return await this.#contexts.run(trace.setSpan(ROOT_CONTEXT, span), () => work(live));
    } catch (error) {
      fail(span, typeOf(error));
      throw error;
    } finally {
      span.end();
    }
  }

  under<T>(traceparent: string | undefined, work: () => Promise<T>): Promise<T> {
    const context = traceparent === undefined ? ROOT_CONTEXT : contextOf(traceparent);
    return this.#contexts.run(context, work);
  }

  begin(start: SpanStart): ((error?: unknown) => void) | undefined {
    const around = this.#spanContext;
    if (around === undefined || !(around.traceFlags & TraceFlags.SAMPLED)) return undefined;
    const span = this.#start(start);
    return (error) => {
      if (error !== undefined && error !== null) fail(span, typeOf(error));
      span.end();
    };
  }

  record({ failure, ...past }: Parameters<Tracing['record']>[0]): void {
    const span = this.#start(past);
    if (failure !== undefined) fail(span, failure);
    span.end();
  }

  link(traceparents: Iterable<string>): void {
    const contexts = [...new Set(traceparents)]
      .slice(0, linksMax)
      .map(parseTraceParent)
      .filter((context): context is SpanContext => context !== null);
    trace.getSpan(this.#context)?.addLinks(contexts.map((context) => ({ context })));
  }

  current(): string | undefined {
    const context = this.#spanContext;
    if (context === undefined || !isSpanContextValid(context)) return undefined;
    const flags = context.traceFlags.toString(16).padStart(2, '0');
    return `00-${context.traceId}-${context.spanId}-${flags}`;
  }

  ids(): { traceId?: string; spanId?: string } {
    const context = this.#spanContext;
    return context === undefined ? {} : { traceId: context.traceId, spanId: context.spanId };
  }

  complainTo(warn: (message: string) => void): void {
    const ignore = (): void => undefined;
    const complain = (text: string): void => warn(`cannot deliver traces: ${messageOf(text)}`);
    diag.setLogger(
      { error: complain, warn: complain, info: ignore, debug: ignore, verbose: ignore },
      { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
    );
  }

  async close(): Promise<void> {
    // A collector that is away must not keep a process from ending well.
    await this.#provider.shutdown().catch(() => undefined);
  }
}
