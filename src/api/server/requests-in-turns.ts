import type { EventEmitter } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * How long requests are started in a turn of the event loop, with all they do before they wait: a third of
 * what turns take, so that starting keeps up where turns are long for other reasons.
 */
const startingMs = { least: 4, most: 20 };
const startingShare = 1 / 3;
const begunMax = 64;
/** What a client may take each time it is its turn; one that has taken more is passed over until it is even. */
const quantumMs = 0.25;
/** Maximum queued requests: of one client, under a second of work; and of all. */
const clientWaitingMax = 1_000;
const waitingMax = 4_000;

/** Maximum unanswered requests of one connection (pipelining); our clients wait for each answer. */
const unansweredMax = 64;
/**
 * Above this number the connection is closed: each request takes memory until those before it are
 * answered.
 */
const unansweredEnd = 128;

/** Of responses that wait behind others, Node does not say that their connection has closed. */
function closeQueued(unanswered: ReadonlySet<ServerResponse>): void {
  for (const response of unanswered) {
    if (response.socket !== null) continue;
    response.destroy();
    response.emit('close');
  }
}

/** Counts the unanswered requests of each connection, each of which closes with it. */
function countUnanswered(): (...request: Parameters<RequestListener>) => number {
  const ofConnection = new WeakMap<Socket, Set<ServerResponse>>();
  const begin = (socket: Socket): Set<ServerResponse> => {
    const unanswered = new Set<ServerResponse>();
    ofConnection.set(socket, unanswered);
    socket.once('close', () => closeQueued(unanswered));
    return unanswered;
  };
  return ({ socket }, response) => {
    const unanswered = ofConnection.get(socket) ?? begin(socket);
    unanswered.add(response);
    response.on('close', () => unanswered.delete(response));
    return unanswered.size;
  };
}

interface Told {
  readonly begin: RequestListener;
  readonly refuse: RequestListener;
  /** From where a request comes. */
  readonly clientOf: (request: IncomingMessage) => string;
  /** Milliseconds of a clock that only goes forward. */
  readonly now?: () => number;
}

interface Client {
  readonly requests: Parameters<RequestListener>[];
  /** Milliseconds that its requests have taken beyond what it was due. */
  debt: number;
}

/**
 * Queues requests and starts some of them in each turn of the event loop: those of one client first in,
 * first out, and of all clients so that each gets the same time (docs/decisions/0212, 0333). Requests
 * beyond the queue's limit are refused (0151), and so are those far ahead of the answers on one
 * connection (0263). Queued requests of disconnected clients are dropped.
 * Without it, the requests of thousands of connections would all be handled before timers run and
 * another connection is accepted: libuv accepts one in each turn. An overloaded process would make
 * twenty turns a second, and most of a thousand new producers would time out before they are
 * accepted.
 */
export function listenInTurns(
  server: EventEmitter,
  { begin, refuse, clientOf, now: clock = () => performance.now() }: Told,
): void {
  /** The clients that have some, in the order in which they are served next. */
  const waiting = new Map<string, Client>();
  let count = 0;
  let isConnecting = false;
  /** The turn of the event loop that runs or ran last. */
  let turn = { number: 0, since: 0, until: 0 };
  let last: { readonly client: Client; readonly at: number } | undefined;
  let scheduled = 0;
  const unanswered = countUnanswered();

  const beginNext = (now: number): void => {
    for (const [name, client] of waiting) {
      // The client goes to the end of the queue; the loop comes back to it.
      waiting.delete(name);
      client.debt = Math.max(0, client.debt - quantumMs);
      if (client.debt > 0) {
        waiting.set(name, client);
        continue;
      }
      const [request, response] = client.requests.shift() as Parameters<RequestListener>;
      count -= 1;
      if (client.requests.length > 0) waiting.set(name, client);
      if (request.socket.destroyed) continue;
      last = { client, at: now };
      begin(request, response);
      return;
    }
  };
  const beginTurn = (number: number, now: number): void => {
    const { least, most } = startingMs;
    const third = Math.min((now - turn.since) * startingShare, most);
    turn = { number, since: now, until: now + (isConnecting ? least : Math.max(third, least)) };
    isConnecting = false;
    last = undefined;
  };
  /** Starts a request, unless this turn has done enough; the rest is left to the next one. */
  const step = (number: number): void => {
    scheduled -= 1;
    const now = clock();
    if (number > turn.number) beginTurn(number, now);
    if (last) last.client.debt += now - last.at;
    last = undefined;
    if (now < turn.until) beginNext(now);
    schedule();
  };
  /**
   * Each request is started by an immediate of its own: between them Node does all that the one before has
   * to do at once, so that the time of a turn counts it. Those made in a turn run in the next one.
   */
  const schedule = (): void => {
    for (; scheduled < Math.min(count, begunMax); scheduled += 1) {
      setImmediate(step, turn.number + 1);
    }
  };
  /** Whether the request waits; too many do otherwise. */
  const enqueue = (...asked: Parameters<RequestListener>): boolean => {
    const name = clientOf(asked[0]);
    const client = waiting.get(name);
    if (count >= waitingMax || (client?.requests.length ?? 0) >= clientWaitingMax) return false;
    if (client) client.requests.push(asked);
    else waiting.set(name, { requests: [asked], debt: 0 });
    count += 1;
    schedule();
    return true;
  };
  server.on('connection', () => {
    isConnecting = true;
  });
  server.on('request', (...[request, response]: Parameters<RequestListener>) => {
    const ahead = unanswered(request, response);
    if (ahead > unansweredEnd) request.socket.destroy();
    else if (ahead > unansweredMax) refuse(request, response);
    else if (!enqueue(request, response)) refuse(request, response);
  });
}
