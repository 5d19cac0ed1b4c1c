import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { problem, type Problem } from '../../kernel/problem.js';
import type { Platform } from '../../process/platform.js';
import { answerUnread } from './unread-body.js';
import { stringifyJson } from './unstorable-text.js';
import { familyOfPath, presentProblem } from '../presenters/problem.js';
import { securityHeaders } from '../guards/security-headers.js';

/** Connections of a process, where the configuration does not say. Each idle one takes some 10 KB. */
export const connectionsDefault = 10_000;

/** The share of connections that one client may hold. */
const shareOfClient = 0.5;
/** The fill level from which idle connections are closed to make room. */
const crowdedFrom = 0.9;
const sweepMs = 1_000;

/**
 * Limits the number of connections, and of those of one client (except loopback and trusted
 * proxies, which stand for many clients). Near the limit, idle connections are closed.
 */
export function limitConnections(server: Server, { config, clients, metrics }: Platform): void {
  const max = config.maxConnections ?? connectionsDefault;
  const clientMax = Math.ceil(max * shareOfClient);
  const ofClient = new Map<string, number>();
  let count = 0;
  let sweptAt = -Infinity;
  server.on('connection', (socket: Socket) => {
    const { group, isLoopback, isProxy } = clients.find(socket.remoteAddress);
    const own = (ofClient.get(group) ?? 0) + 1;
    ofClient.set(group, own);
    count += 1;
    socket.once('close', () => {
      count -= 1;
      const left = (ofClient.get(group) ?? 1) - 1;
      if (left === 0) ofClient.delete(group);
      else ofClient.set(group, left);
    });
    if (count > max || (own > clientMax && !isLoopback && !isProxy)) {
      metrics.refusals.inc({ reason: 'connections' });
      socket.destroy();
    }
    const now = performance.now();
    if (count > max * crowdedFrom && now - sweptAt > sweepMs) {
      sweptAt = now;
      server.closeIdleConnections();
    }
  });
}

/**
 * Node makes an error for each unanswered request of a connection that has closed, and reads its stack:
 * half a millisecond each through source maps, and a client may leave dozens of requests on each of its
 * connections (docs/decisions/0486). Nobody is told of those errors, so they are made without stacks: Node's
 * own listener is between these two.
 */
export function closeWithoutStacks(server: Server): void {
  server.on('connection', (socket: Socket) => {
    let limit = Error.stackTraceLimit;
    socket.prependOnceListener('close', () => {
      limit = Error.stackTraceLimit;
      Error.stackTraceLimit = 0;
    });
    socket.once('close', () => {
      Error.stackTraceLimit = limit;
    });
  });
}

/** The problem of data that could not be parsed as a request. */
function faultOf(code: string | undefined): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return problem.headersTooLarge('The address and the headers are larger than 32 KiB.');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return problem.requestTimeout('The request did not arrive in time.');
  }
  return problem.validation('This is no request of HTTP.');
}

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

const lingerMs = 2_000;
const lingerBytesMax = 16 * 1024 * 1024;

/** Ends a connection so that its client can read the answer, though it may still be sending. */
function endSlowly(socket: Socket, answer: string): void {
  socket.end(answer);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}

/** The path in the raw data, if it can be found: the form of the error body depends on it. */
const pathOf = (packet: Buffer | undefined): string =>
  /^[A-Z]+ (\/[^\s?]{0,200})/.exec(packet?.toString('latin1', 0, 300) ?? '')?.[1] ?? '/';

/**
 * Answers in place of Node, whose answers lack our headers: 417 for an unknown expectation, 400 for
 * an HTTP/1.1 request without a host (RFC 9112, section 3.2).
 */
export function refuseUnfit(server: Server, { config, metrics }: Platform) {
  const headers = Object.entries(securityHeaders(config.publicUrl));
  const refuse = (
    request: IncomingMessage,
    response: ServerResponse,
    status: number,
    text: string,
  ): void => {
    metrics.httpRequests.inc({ operation: 'unrouted', status });
    response.statusCode = status;
    for (const [name, value] of headers) response.setHeader(name, value);
    response.setHeader('Content-Length', Buffer.byteLength(text));
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    answerUnread(request, response, request.method === 'HEAD' ? '' : text);
  };
  server.on('checkExpectation', (request, response) => refuse(request, response, 417, '{}'));
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    if (request.headers.host !== undefined || request.httpVersion === '1.0') return false;
    const path = pathOf(Buffer.from(`GET ${request.url ?? '/'}`));
    const failure = problem.validation('A request of HTTP/1.1 names its host.');
    const text = stringifyJson(presentProblem(familyOfPath(path), failure, path));
    refuse(request, response, failure.status, text);
    return true;
  };
}

interface ClientError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

/** Answers unparseable requests, and those with too many headers, with an ordinary error body. */
export function answerClientErrors(server: Server, { config, metrics }: Platform): void {
  const headers = Object.entries(securityHeaders(config.publicUrl))
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  const answered = new WeakMap<Socket, number>();
  server.on('clientError', (error: ClientError, socket: Socket) => {
    const known = answered.get(socket);
    if (known !== undefined) {
      // The client sends on, and the rest cannot be parsed, either.
      if (socket.bytesRead - known > lingerBytesMax) socket.destroy();
      return;
    }
    // Node keeps the answer of this connection here: one that has begun cannot be replaced.
    const { _httpMessage: begun } = socket as Socket & { _httpMessage?: ServerResponse | null };
    if (error.code === 'ECONNRESET' || !socket.writable || begun?.headersSent === true) {
      socket.destroy();
      return;
    }
    answered.set(socket, socket.bytesRead);
    const failure = faultOf(error.code);
    const path = pathOf(error.rawPacket);
    const body = stringifyJson(presentProblem(familyOfPath(path), failure, path));
    metrics.httpRequests.inc({ operation: 'unrouted', status: failure.status });
    endSlowly(
      socket,
      `HTTP/1.1 ${failure.status} ${reasons[failure.status] ?? ''}\r\n${headers}` +
        'Content-Type: application/json; charset=utf-8\r\nConnection: close\r\n' +
        `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  });
}
