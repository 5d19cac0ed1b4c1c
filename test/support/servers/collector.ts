import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

type Value = { readonly stringValue?: string; readonly intValue?: number };

/** A span as OTLP/JSON writes it. */
interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: Value }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code?: number };
}

export interface CollectedSpan extends Omit<WireSpan, 'attributes'> {
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
  /** Of its process, such as `service.name`. */
  readonly resource: Readonly<Record<string, string | number | undefined>>;
}

interface WireTraces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: WireSpan['attributes'] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

const attributesOf = (attributes: WireSpan['attributes']) =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]),
  );

/** A collector of OpenTelemetry: takes traces as OTLP/HTTP in JSON and keeps them. */
export interface Collector {
  readonly url: string;
  readonly spans: CollectedSpan[];
  /** All that arrived, as text. */
  text(): string;
  /** The headers of the last request. */
  headers(): Readonly<Record<string, unknown>>;
  /** The first span that fits, once it has arrived. */
  find(isWanted: (span: CollectedSpan) => boolean, limitMs?: number): Promise<CollectedSpan>;
  close(): Promise<void>;
}

export async function openCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  let all = '';
  let lastHeaders: Readonly<Record<string, unknown>> = {};
  const server = createServer((request, response) => {
    let body = '';
    lastHeaders = request.headers;
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      response.writeHead(request.url === '/v1/traces' ? 200 : 404, {
        'Content-Type': 'application/json',
      });
      response.end('{}');
      all += body;
      for (const { resource, scopeSpans } of (JSON.parse(body) as WireTraces).resourceSpans) {
        for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
          spans.push({
            ...span,
            attributes: attributesOf(span.attributes),
            resource: attributesOf(resource.attributes),
          });
        }
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    text: () => all,
    headers: () => lastHeaders,
    async find(isWanted, limitMs = 10_000) {
      for (const deadline = Date.now() + limitMs; ; await wait(20)) {
        const found = spans.find(isWanted);
        if (found) return found;
        if (Date.now() > deadline) throw new Error('No such span arrived.');
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
