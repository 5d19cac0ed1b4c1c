import type { Server } from 'node:http';
import type { Socket, Server as SocketServer } from 'node:net';

const stop = (server: SocketServer): Promise<void> =>
  new Promise((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
  });

/**
 * Counts the unanswered requests of each connection from now on. Returns what closes the server, and
 * `others` that accept connections for it: at once those connections on which nothing is being answered,
 * the rest when all that was asked on them is answered.
 *
 * Node closes only connections that have asked before. Browsers open some before they know what to ask,
 * and Node's check for them ends with `close`; what goes on asking on its connection would be answered
 * for ever.
 */
export function closesInGoodOrder(
  server: Server,
): (others: readonly SocketServer[]) => Promise<void> {
  const unanswered = new Map<Socket, number>();
  let isClosing = false;
  const count = (socket: Socket, change: 1 | -1): void => {
    const before = unanswered.get(socket);
    // Of a connection that was given up, answers close after it: nothing may be kept of it.
    if (before === undefined) return;
    const left = before + change;
    unanswered.set(socket, left);
    if (isClosing && left === 0) socket.destroySoon();
  };
  server.on('connection', (socket: Socket) => {
    if (isClosing) socket.destroy();
    unanswered.set(socket, 0);
    socket.once('close', () => unanswered.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    count(socket, 1);
    response.on('close', () => count(socket, -1));
  });
  return async (others) => {
    isClosing = true;
    const closing = Promise.all([server, ...others].map(stop));
    for (const [socket, left] of unanswered) if (left === 0) socket.destroySoon();
    await closing;
  };
}
