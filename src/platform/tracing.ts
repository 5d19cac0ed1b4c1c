/** Attributes of a span: ids, names and counts; never payloads, values of queries or tokens. */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

/** A span that is under way. */
export interface LiveSpan {
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** Marks it as failed, with the kind of the error. */
  fail(type: string): void;
}

export interface SpanStart {
  readonly name: string;
  readonly kind?: 'server' | 'client' | 'producer';
  readonly attributes?: SpanAttributes;
  /** The `traceparent` of its parent; undefined: the active span. */
  readonly parent?: string | undefined;
  /** The trace id if it has no parent. */
  readonly traceId?: string;
}

/** A span of work done elsewhere, with an id that others refer to. */
export interface PastSpan extends SpanStart {
  readonly spanId: string;
  readonly startedAt: Date;
  /** The kind of the error that it failed with. */
  readonly failure?: string | undefined;
}

/** Records traces; an instance without `OTEL_EXPORTER_OTLP_ENDPOINT` has none. */
export interface Tracing {
  /** Runs the work in a span, which ends with it and is the parent of spans started by the work. */
  inSpan<T>(start: SpanStart, work: (span: LiveSpan) => Promise<T>): Promise<T>;
  /** Runs the work with a `traceparent` as its parent, or without a parent. */
  under<T>(traceparent: string | undefined, work: () => Promise<T>): Promise<T>;
  /** Starts a child of the active span; undefined without one. Call the result to end it. */
  begin(start: SpanStart): ((error?: unknown) => void) | undefined;
  /** Records a span of work that has just ended. */
  record(span: PastSpan): void;
  /** Links the span that is under way to those that led to its work. */
  link(traceparents: Iterable<string>): void;
  /** The `traceparent` of the span that is under way here. */
  current(): string | undefined;
  /** For lines of the log. */
  ids(): { readonly traceId?: string; readonly spanId?: string };
  /** Sets the function that logs failed exports. */
  complainTo(warn: (message: string) => void): void;
  /** Delivers what is left. */
  close(): Promise<void>;
}

/** Where spans go, and what is said of all of them; `Config` has it. */
export interface TracingSettings {
  /** OTEL_EXPORTER_OTLP_ENDPOINT, before `/v1/traces`. */
  readonly endpoint: string;
  readonly protocol: 'http/protobuf' | 'http/json';
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Readonly<Record<string, string>>;
  /** The share of traces that begin here and are kept, from 0 to 1. */
  readonly ratio: number;
  /** Whether the sampling decision of a caller's trace is followed. */
  readonly isParentHeeded: boolean;
}

/** Undefined if no endpoint is set; the modules of OpenTelemetry are loaded only otherwise. */
export async function openTracing(
  settings: TracingSettings | undefined,
): Promise<Tracing | undefined> {
  if (settings === undefined) return undefined;
  const { openTelemetry } = await import('./telemetry.js');
  return openTelemetry(settings);
}
