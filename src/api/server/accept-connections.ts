import { spawn } from 'node:child_process';
import type { Server } from 'node:http';
import { createServer, type Server as SocketServer } from 'node:net';

/**
 * Sends a listening socket back as often as it is asked to, each time as another file descriptor. As it
 * only passes the handle on, it accepts nothing itself.
 */
const sendBack = `process.on('message', (count, handle) => {
  for (let sent = 0; sent < count; sent += 1) process.send(sent, handle);
});`;

/** A child that takes longer than this is ended: its copies are not worth waiting for. */
const giveUpMs = 10_000;

/**
 * Accepts more connections at once. libuv accepts one in each turn of the event loop from each listening
 * socket, so that fifty clients that come together would keep the fifty-first waiting for fifty turns. So
 * the socket is listened on under several file descriptors, which only another process can make of one
 * (docs/decisions/0291). Returns what has to be closed with the server, also where that process fails.
 */
export async function acceptMany(server: Server, copies: number): Promise<SocketServer[]> {
  const { _handle: handle } = server as Server & { readonly _handle?: object };
  if (copies < 1 || handle === undefined) return [];
  const listening: SocketServer[] = [];
  const child = spawn(process.execPath, ['-e', sendBack], {
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => child.kill(), giveUpMs);
    const end = (): void => {
      clearTimeout(timer);
      resolve();
    };
    child.on('error', end).once('exit', end);
    child.on('message', (_count, copy) => {
      const options = { allowHalfOpen: true, noDelay: true };
      const another = createServer(options, (socket) => void server.emit('connection', socket));
      another.on('error', (error) => void server.emit('error', error));
      another.listen(copy);
      listening.push(another);
      if (listening.length === copies) child.disconnect();
    });
    child.send(copies, handle as Server, (error) => {
      if (error) child.kill();
    });
  });
  return listening;
}
