import { createServer } from 'node:net';

/**
 * A TCP port of the loopback interface that nobody listens on: the preferred one if it is free,
 * else any below 30000. Those above are handed out by the system to outgoing connections, so one of
 * them could be taken while its server is down.
 */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await isFree(preferred))) return preferred;
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const port = 15_000 + Math.floor(Math.random() * 15_000);
    if (await isFree(port)) return port;
  }
  throw new Error('No TCP port between 15000 and 30000 is free on 127.0.0.1');
}

export async function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => resolve(true));
    });
  });
}
