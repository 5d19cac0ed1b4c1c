import type { Context } from 'koa';
import { stringifyJson } from '../kernel/text/json.js';
import type { Identity } from '../access/authenticate.js';
import type { Platform } from '../process/platform.js';
import type { StreamedEvents } from '../schemas/http/operation.js';

/** How often a stream says that it is open: proxies wait longer. */
const beatMs = 15_000;
/** What may wait for a client that does not read. */
const unreadBytesMax = 64 * 1024;

const headers = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  // Proxies pass each event on at once.
  'X-Accel-Buffering': 'no',
  // Where the process ends, it need not wait until the connection has been idle.
  Connection: 'close',
};

/** The end of the time that was asked for, or of the credential, whichever is earlier. */
function timeLeft({ seconds }: StreamedEvents, { credential }: Identity, now: Date): number {
  const endsAt = credential?.endsAt?.getTime() ?? Infinity;
  return Math.min(seconds * 1000, endsAt - now.getTime());
}

/**
 * Sends events as they happen (spec/beyond.md R420). Resolves when the stream is open, so that it
 * occupies no slot; it ends after its time, with its credential, within some seconds after that was taken back, and
 * with the process.
 */
export async function openEventStream(
  ctx: Context,
  events: StreamedEvents,
  platform: Platform,
  identity: Identity,
): Promise<void> {
  const { res } = ctx;
  const end = (): void => void res.end();
  const leave = platform.eventStreams.enter(identity.tenantId, end);
  const write = (text: string): void => {
    if (res.writableLength > unreadBytesMax) res.destroy();
    else if (!res.writableEnded) res.write(text);
  };
  let isOpen = false;
  let stop: () => void;
  try {
    stop = await events.hear((event) => {
      if (isOpen) write(`data: ${stringifyJson(event)}\n\n`);
    });
  } catch (error) {
    leave();
    throw error;
  }
  ctx.status = 200;
  ctx.set(headers);
  // The response is written here, not by Koa.
  ctx.respond = false;
  const beat = setInterval(() => write(':\n\n'), beatMs).unref();
  const unwatch = platform.credentialWatch.watch(identity, end);
  const over = setTimeout(end, timeLeft(events, identity, platform.now())).unref();
  const close = (): void => {
    clearInterval(beat);
    clearTimeout(over);
    unwatch();
    stop();
    leave();
  };
  res.once('close', close);
  if (res.destroyed || ctx.method === 'HEAD') {
    close();
    end();
    return;
  }
  isOpen = true;
  write('retry: 1000\n\n');
}
