import pg from 'pg';
import type { Logger } from '../log.js';

/**
 * Timeout of a connection attempt: without it, a silent server would block notifications for ever.
 */
const connectMsMax = 10_000;

/**
 * Calls back on each NOTIFY on a channel of PostgreSQL, and, without payload, after each reconnect.
 * Reconnects until the returned function is called.
 */
export async function listen(
  url: string,
  channel: string,
  onNotice: (payload: string) => void,
  log: Logger,
): Promise<() => Promise<void>> {
  let client: pg.Client | undefined;
  let isClosed = false;
  /** Any login can send a notification with an invalid payload: it must not end the process. */
  const notify = (payload: string): void => {
    try {
      onNotice(payload);
    } catch (error) {
      log.warn({ err: error, channel }, 'cannot read a notice of the database; passing it over');
    }
  };
  const connect = async (): Promise<void> => {
    if (isClosed) return;
    const next = new pg.Client({
      connectionString: url,
      keepAlive: true,
      connectionTimeoutMillis: connectMsMax,
    });
    const reconnect = (error?: Error): void => {
      next.removeAllListeners('end');
      if (isClosed) return;
      log.warn({ err: error, channel }, 'lost the connection that listens; connecting again');
      setTimeout(() => void connect().catch(reconnect), 1_000).unref();
    };
    next.on('error', (error) => log.debug({ err: error }, 'listening connection failed'));
    next.on('notification', ({ payload = '' }) => notify(payload));
    await next.connect();
    next.on('end', () => reconnect());
    await next.query(`listen ${channel}`);
    client = next;
    // Notifications may have been missed without a connection.
    notify('');
  };
  await connect();
  return async () => {
    isClosed = true;
    await client?.end();
  };
}
