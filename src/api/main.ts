import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Logger } from '../platform/log.js';
import type { Platform } from '../process/platform.js';
import { loadReferenceData } from '../queries/reference/reference-data.js';
import { acceptMany } from './server/accept-connections.js';
import { closesInGoodOrder } from './close-server.js';
import { createApp } from './app.js';
import type { FillYear } from './console/demo-year.js';
import {
  answerClientErrors,
  closeWithoutStacks,
  limitConnections,
  refuseUnfit,
} from './server/limit-connections.js';
import { isEnding } from './server/unread-body.js';
import { listenInTurns } from './server/requests-in-turns.js';
import { refuseRequests } from './server/refuse-request.js';

export interface RunningApi {
  readonly url: string;
  /** Stops accepting, finishes what is under way. */
  close(): Promise<void>;
}

/**
 * Maximum bytes of the request line and headers, as much as proxies pass on. Longer filters are
 * sent in a body (docs/decisions/0170).
 */
const maxHeaderSize = 32 * 1024;
/** Node allocates for this many headers regardless of the request; clients send some dozen. */
const maxHeadersCount = 200;

/**
 * Timeout for receiving a request's headers; then the connection is closed (docs/decisions/0170).
 */
const headersTimeout = 15_000;
const requestTimeout = 180_000;
const connectionsCheckingInterval = 5_000;
/**
 * Timeout of a connection without traffic, beyond an operation's time limit: the client does not
 * read.
 */
const silenceMs = 120_000;

/**
 * Timeout of an idle connection. Node's default of 5 s is less than load balancers (60 s) and
 * connection pools expect: their next request would hit a closing connection.
 */
const keepAliveTimeout = 75_000;

/**
 * The TCP accept queue, as far as the system allows. With Node's default of 511, a thousand
 * producers connecting at once would overflow it, and the system resets the rest.
 */
const backlog = 4_096;

/**
 * Serves the API; rejects with EADDRINUSE when the port is taken. `accepted`: how many connections are
 * accepted in a turn of the event loop. `fillYear`: what the console's first page offers, if anything.
 */
export async function startApi(
  platform: Platform,
  {
    accepted = 1,
    fillYear,
  }: { readonly accepted?: number; readonly fillYear?: FillYear | undefined } = {},
): Promise<RunningApi> {
  await loadReferenceData(platform.database.platform);
  const { host, port } = platform.config;
  const { flowTimeoutMs, ingestTimeoutMs } = platform.config;
  const handle = answering(createApp(platform, fillYear).callback(), platform.log);
  const running = await serve({ host, port, accepted }, platform.log, (server) => {
    server.setTimeout(Math.max(flowTimeoutMs, ingestTimeoutMs) + silenceMs);
    closeWithoutStacks(server);
    limitConnections(server, platform);
    answerClientErrors(server, platform);
    const isRefused = refuseUnfit(server, platform);
    listenInTurns(server, {
      begin: (request, response) => {
        if (isEnding(request) || isRefused(request, response)) return;
        handle(request, response);
      },
      refuse: refuseRequests(platform),
      clientOf: ({ socket, headers }) =>
        platform.clients.find(socket.remoteAddress, forwardedFor(headers)).group,
    });
  });
  return {
    url: running.url,
    close: () => {
      platform.eventStreams.endAll();
      return running.close();
    },
  };
}

/** Node joins repeated headers of this name. */
const forwardedFor = ({ 'x-forwarded-for': given }: IncomingHttpHeaders): string =>
  typeof given === 'string' ? given : '';

/**
 * The request target without scheme and host (origin form). A caller may send the absolute form, as
 * to a proxy; its host may be invalid and is ignored.
 */
const originForm = (address: string): string => {
  const rest = /^https?:\/\/[^/?#]*(.*)$/is.exec(address)?.[1];
  if (rest === undefined) return address;
  return rest.startsWith('/') ? rest : `/${rest}`;
};

/**
 * Handles requests and never throws: an error outside the error handlers closes the connection
 * instead of ending the process.
 */
export const answering =
  (
    handle: (...request: Parameters<RequestListener>) => Promise<void>,
    log: Logger,
  ): RequestListener =>
  (request, response) => {
    try {
      request.url = originForm(request.url ?? '/');
      handle(request, response).catch((error: unknown) => fail(response, error, log));
    } catch (error) {
      fail(response, error, log);
    }
  };

function fail(response: ServerResponse, error: unknown, log: Logger): void {
  log.error({ err: error }, 'a request could not be answered');
  response.destroy();
}

interface Place {
  readonly host: string;
  readonly port: number;
  readonly accepted?: number;
}

/** Starts an HTTP server for a request handler; rejects with EADDRINUSE when the port is taken. */
export async function serve(
  { host, port, accepted = 1 }: Place,
  log: Logger,
  answer: (server: Server) => void,
): Promise<RunningApi> {
  const server = createServer({
    maxHeaderSize,
    keepAliveTimeout,
    headersTimeout,
    requestTimeout,
    connectionsCheckingInterval,
    // Such a request is answered by us, with our headers.
    requireHostHeader: false,
  });
  server.maxHeadersCount = maxHeadersCount;
  const close = closesInGoodOrder(server);
  answer(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog }, resolve);
  });
  // Such as a connection that could not be accepted, since there are too many open files.
  server.on('error', (error) => log.error({ err: error }, 'a connection was not accepted'));
  const more = await acceptMany(server, accepted - 1);
  if (more.length < accepted - 1) {
    log.warn({ accepted: more.length + 1 }, 'few connections are accepted at once');
  }
  const address = server.address();
  const boundPort = typeof address === 'object' && address ? address.port : port;
  return {
    url: `http://${host === '0.0.0.0' || host === '::' ? 'localhost' : host}:${boundPort}`,
    close: () => close(more),
  };
}
