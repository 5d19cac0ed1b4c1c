/** What a span tells of itself: ids, names and counts; never payloads, values of queries or tokens. */
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
  /** The `traceparent` that it stands below; undefined: what is under way here. */
  readonly parent?: string | undefined;
  /** The id of the trace that it begins where it stands below nothing. */
  readonly traceId?: string;
}

/** A span of work that was done elsewhere, under an id that others know. */
export interface PastSpan extends SpanStart {
  readonly spanId: string;
  readonly startedAt: Date;
  /** The kind of the error that it failed with. */
  readonly failure?: string | undefined;
}

/** Where traces are told; an instance without `OTEL_EXPORTER_OTLP_ENDPOINT` has none. */
export interface Tracing {
  /** Runs the work in a span, which ends with it; what the work does stands below that span. */
  inSpan<T>(start: SpanStart, work: (span: LiveSpan) => Promise<T>): Promise<T>;
  /** Runs the work where a `traceparent` leads, or under nothing. */
  under<T>(traceparent: string | undefined, work: () => Promise<T>): Promise<T>;
  /** Starts a span below the one that is under way; undefined where none is. Call the result at the end. */
  begin(start: SpanStart): ((error?: unknown) => void) | undefined;
  /** Tells of work that has ended just now. */
  record(span: PastSpan): void;
  /** Links the span that is under way to those that led to its work. */
  link(traceparents: Iterable<string>): void;
  /** The `traceparent` of the span that is under way here. */
  current(): string | undefined;
  /** For lines of the log. */
  ids(): { readonly traceId?: string; readonly spanId?: string };
  /** Where it complains when spans cannot be delivered. */
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
  /** Whether whoever calls decides for the traces that he began. */
  readonly isParentHeeded: boolean;
}

/** Undefined where nothing is set; only else are the modules of OpenTelemetry loaded. */
export async function openTracing(
  settings: TracingSettings | undefined,
): Promise<Tracing | undefined> {
  if (settings === undefined) return undefined;
  const { openTelemetry } = await import('./telemetry.js');
  return openTelemetry(settings);
}
