import type { EventEmitter } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** Requests begun in a turn of the event loop: some 50 ms of work. */
const begunMax = 64;
/** And as long as new connections come: a few milliseconds of work. */
const begunMaxWhileConnecting = 2;
/** Requests that wait for their turn, of one client: under a second of work; and of all. */
const clientWaitingMax = 1_000;
const waitingMax = 4_000;

/** Requests of one connection that are not answered yet; clients of ours wait for each answer. */
const unansweredMax = 64;
/** Who sends on all the same is cut off: each request takes memory until those before it are answered. */
const unansweredEnd = 256;

/** Counts what each connection has sent ahead of its answers. */
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
 * Begins some requests in each turn of the event loop and keeps the others waiting, those of one client in
 * the order in which they came, one of each client in turn (docs/decisions/0212). What comes when too many
 * wait is refused (0151), and so is what one connection sends far ahead of its answers (0263). Of those that
 * wait, requests whose clients have left are not begun.
 *
 * Without it, all that thousands of connections have sent is worked off before timers run and another
 * connection is accepted: libuv accepts one a turn. A process with more work than it can do would make
 * twenty turns a second, and most of a thousand new producers would give up before they were heard.
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
      // Behind the others; the loop comes to it again while something may be begun.
      if (row.length > 0) waiting.set(client, row);
      if (request.socket.destroyed) continue;
      begun += 1;
      begin(request, response);
      if (begun >= beginMax) break;
    }
    // What was begun counts until the next turn, which begins with those that wait.
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
