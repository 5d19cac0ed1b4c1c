import { createServer } from 'node:net';
import type { Config } from '../../platform/config/config.js';
import { StartupError, errorCode, firstLine } from '../../platform/startup-error.js';

/** Checked before the servers are started, to report this common mistake at once. */
export async function refuseOccupiedPort(
  { host, port }: Pick<Config, 'host' | 'port'>,
  prefix = '',
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error) => reject(cannotListen({ host, port }, error, prefix)));
    probe.listen({ port, host }, () => probe.close(() => resolve()));
  });
}

/** What a port that cannot be listened on means, and what to do. */
export function cannotListen(
  { host, port }: Pick<Config, 'host' | 'port'>,
  error: unknown,
  prefix = '',
): Error {
  const way: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is in use: stop the program that uses it, or set ${prefix}PORT.`,
    EACCES: `Port ${port} on ${host} is not allowed for this user: set ${prefix}PORT to one above 1023.`,
    EADDRNOTAVAIL: `${prefix}HOST is "${host}": this machine has no such address.`,
    ENOTFOUND: `${prefix}HOST is "${host}": this machine has no such address.`,
  };
  const text = way[errorCode(error)];
  if (text !== undefined) return new StartupError(text);
  return error instanceof Error ? error : new Error(firstLine(error));
}
