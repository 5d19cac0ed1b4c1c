import type { EventEmitter } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** Requests started in a turn of the event loop: some 50 ms of work. */
const begunMax = 64;
/** The same while new connections arrive: a few milliseconds of work. */
const begunMaxWhileConnecting = 2;
/** Maximum queued requests: of one client, under a second of work; and of all. */
const clientWaitingMax = 1_000;
const waitingMax = 4_000;

/** Maximum unanswered requests of one connection (pipelining); our clients wait for each answer. */
const unansweredMax = 64;
/**
 * Above this number the connection is closed: each request takes memory until those before it are
 * answered.
 */
const unansweredEnd = 256;

/** Counts the unanswered requests of each connection. */
function countUnanswered(): (...request: Parameters<RequestListener>) => number {
  const ofConnection = new WeakMap<Socket, number>();
  return ({ socket }, response) => {
    const count = (ofConnection.get(socket) ?? 0) + 1;
    ofConnection.set(socket, count);
    response.once('close', () => {
      ofConnection.set(socket, (ofConnection.get(socket) ?? 1) - 1);
    });
    return count;
  };
}

interface Told {
  readonly begin: RequestListener;
  readonly refuse: RequestListener;
  /** From where a request comes. */
  readonly clientOf: (request: IncomingMessage) => string;
}

/**
 * Starts some requests in each turn of the event loop and queues the others: first in, first out
 * for one client, round robin over clients (docs/decisions/0212). Requests beyond the queue's limit
 * are refused (0151), and so are those far ahead of the answers on one connection (0263). Queued
 * requests of disconnected clients are dropped.
 * Without it, the requests of thousands of connections would all be handled before timers run and
 * another connection is accepted: libuv accepts one in each turn. An overloaded process would make
 * twenty turns a second, and most of a thousand new producers would time out before they are
 * accepted.
 */
export function listenInTurns(server: EventEmitter, { begin, refuse, clientOf }: Told): void {
  /** Of each client that has some, in the order in which clients are served next. */
  const waiting = new Map<string, Parameters<RequestListener>[]>();
  let count = 0;
  let begun = 0;
  let isConnecting = false;
  let isTurnAhead = false;
  const unanswered = countUnanswered();

  const most = (): number => (isConnecting ? begunMaxWhileConnecting : begunMax);
  const turn = (): void => {
    const beginMax = most();
    isTurnAhead = false;
    isConnecting = false;
    begun = 0;
    for (const [client, row] of waiting) {
      const [request, response] = row.shift() as Parameters<RequestListener>;
      count -= 1;
      waiting.delete(client);
      // The client goes to the end of the queue; the loop returns to it while requests may start.
      if (row.length > 0) waiting.set(client, row);
      if (request.socket.destroyed) continue;
      begun += 1;
      begin(request, response);
      if (begun >= beginMax) break;
    }
    // Started requests count until the next turn, which begins with the queued ones.
    if (begun > 0 || count > 0) lookAhead();
  };
  /** Whether the request waits; too many do otherwise. */
  const enqueue = (...asked: Parameters<RequestListener>): boolean => {
    const client = clientOf(asked[0]);
    const row = waiting.get(client);
    if (count >= waitingMax || (row?.length ?? 0) >= clientWaitingMax) return false;
    if (row) row.push(asked);
    else waiting.set(client, [asked]);
    count += 1;
    return true;
  };
  const lookAhead = (): void => {
    if (isTurnAhead) return;
    isTurnAhead = true;
    setImmediate(turn);
  };
  server.on('connection', () => {
    isConnecting = true;
    lookAhead();
  });
  server.on('request', (...[request, response]: Parameters<RequestListener>) => {
    lookAhead();
    const ahead = unanswered(request, response);
    if (ahead > unansweredEnd) request.socket.destroy();
    else if (ahead > unansweredMax) refuse(request, response);
    else if (count === 0 && begun < most()) {
      begun += 1;
      begin(request, response);
    } else if (!enqueue(request, response)) {
      refuse(request, response);
    }
  });
}
