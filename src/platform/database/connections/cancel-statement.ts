import pg from 'pg';
import type { Logger } from '../../log.js';
import type { PooledConnection } from '../tenant-entrance.js';

/** How long a server may take to accept the request; then the statement's time limit ends it. */
const answerMsMax = 2_000;

interface NodePostgresConnection {
  readonly stream: { destroy(): void };
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
  once(event: 'connect' | 'sslconnect' | 'end', listener: () => void): void;
  once(event: 'error', listener: (error: Error) => void): void;
}
const BareConnection = pg.Connection as unknown as new (config: {
  readonly ssl: boolean | object;
}) => NodePostgresConnection;

/**
 * Cancels the statement that a connection runs, by PostgreSQL's cancel request: over a connection of
 * its own without a login, which is served although all others are taken, and named by the key that
 * the server gave for the connection. A pooler gives keys of its own and passes the request on to
 * the session that serves the connection at that moment (docs/decisions/0330).
 *
 * Resolves when the request has been passed on, or cannot be: then the time limit ends the
 * statement.
 */
export function cancelStatement(connection: PooledConnection, log?: Logger): Promise<void> {
  const { host, port, ssl, processID, secretKey } = connection;
  const request = new BareConnection({ ssl });
  return new Promise((resolve) => {
    const fail = (error: Error): void => {
      log?.warn({ err: error }, 'an abandoned statement cannot be canceled');
      request.stream.destroy();
      resolve();
    };
    const timer = setTimeout(() => fail(new Error('no answer')), answerMsMax);
    request.once('error', fail);
    // The server closes the connection once it has sent the signal.
    request.once('end', () => {
      clearTimeout(timer);
      resolve();
    });
    const send = (): void => request.cancel(processID, secretKey);
    if (ssl === false) {
      request.once('connect', send);
    } else {
      request.once('connect', () => request.requestSsl());
      request.once('sslconnect', send);
    }
    if (host.startsWith('/')) request.connect(`${host}/.s.PGSQL.${port}`);
    else request.connect(port, host);
  });
}
