import pg from 'pg';
import type { Logger } from '../log.js';

/**
 * Timeout of a connection attempt: without it, a silent server would block notifications for ever.
 */
const connectMsDefault = 10_000;

/** A server whose notifications are heard. */
export interface HeardServer {
  readonly url: string;
  /** Whether listening may begin without it: it is heard from when it answers. */
  readonly mayBeAway: boolean;
}

/** Calls back on each NOTIFY on a channel, until the returned function is called. */
export type Listen = (
  channel: string,
  onNotice: (payload: string) => void,
) => Promise<() => Promise<void>>;

/** Listens to all these servers. */
export const listenTo =
  (servers: readonly HeardServer[], log: Logger, connectMs = connectMsDefault): Listen =>
  async (channel, onNotice) => {
    const stops = await Promise.all(
      servers.map((server) => listen({ ...server, connectMs }, channel, onNotice, log)),
    );
    return async () => {
      await Promise.all(stops.map((stop) => stop()));
    };
  };

/**
 * Calls back on each NOTIFY on a channel of PostgreSQL, and, without payload, after each reconnect.
 * Reconnects until the returned function is called.
 */
async function listen(
  { url, mayBeAway, connectMs }: HeardServer & { readonly connectMs: number },
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
  const connectLater = (error?: unknown): void => {
    if (isClosed) return;
    log.warn({ err: error, channel }, 'lost the connection that listens; connecting again');
    setTimeout(() => void connect().catch(connectLater), 1_000).unref();
  };
  const connect = async (): Promise<void> => {
    if (isClosed) return;
    const next = new pg.Client({
      connectionString: url,
      keepAlive: true,
      connectionTimeoutMillis: connectMs,
    });
    next.on('error', (error) => log.debug({ err: error }, 'listening connection failed'));
    next.on('notification', ({ payload = '' }) => notify(payload));
    await next.connect();
    if (isClosed) return next.end();
    const again = (): void => connectLater();
    next.once('end', again);
    await next.query(`listen ${channel}`).catch((error: unknown) => {
      next.off('end', again);
      throw error;
    });
    client = next;
    // Notifications may have been missed without a connection.
    notify('');
  };
  if (mayBeAway) void connect().catch(connectLater);
  else await connect();
  return async () => {
    isClosed = true;
    await client?.end();
  };
}
