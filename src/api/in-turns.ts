import type { EventEmitter } from 'node:events';
import type { RequestListener } from 'node:http';

/** Requests begun in a turn of the event loop: some 50 ms of work. */
const begunMax = 64;
/** And as long as new connections come: a few milliseconds of work. */
const begunMaxWhileConnecting = 2;
/** Requests that wait for their turn: under a second of work. */
const waitingMax = 1_000;

/**
 * Begins some requests in each turn of the event loop and keeps the others in a row, in the order in
 * which they came; what comes when the row is full is refused (docs/decisions/0151).
 *
 * Without it, all that thousands of connections have sent is worked off before timers run and another
 * connection is accepted: libuv accepts one a turn. A process with more work than it can do would make
 * twenty turns a second, and most of a thousand new producers would give up before they were heard.
 */
export function listenInTurns(
  server: EventEmitter,
  begin: RequestListener,
  refuse: RequestListener,
): void {
  let waiting: Parameters<RequestListener>[] = [];
  let next = 0;
  let begun = 0;
  let isConnecting = false;
  let isTurnAhead = false;

  const most = (): number => (isConnecting ? begunMaxWhileConnecting : begunMax);
  const turn = (): void => {
    const beginMax = most();
    isTurnAhead = false;
    isConnecting = false;
    for (begun = 0; begun < beginMax && next < waiting.length; begun += 1) {
      const [request, response] = waiting[next] as Parameters<RequestListener>;
      next += 1;
      begin(request, response);
    }
    if (next === waiting.length || next > waitingMax) {
      waiting = waiting.slice(next);
      next = 0;
    }
    // What was begun counts until the next turn, which begins with those that wait.
    if (begun > 0) lookAhead();
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
    const count = waiting.length - next;
    if (count === 0 && begun < most()) {
      begun += 1;
      begin(request, response);
    } else if (count < waitingMax) {
      waiting.push([request, response]);
    } else {
      refuse(request, response);
    }
  });
}
