import type { Context } from 'koa';

/** More than any operation takes: who sends more than that has to live without an answer. */
const bytesMax = 64 * 1024 * 1024;
const millisecondsMax = 5_000;

/**
 * Reads and forgets what is left of a body, where the connection ends with the answer: a client that
 * is still sending then would find it reset, and no answer. Connections that stay are read by Node.
 */
export async function drain({ req, res }: Context): Promise<void> {
  if (req.complete || req.destroyed || res.shouldKeepAlive) return;
  let bytes = 0;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, millisecondsMax);
    const stop = (): void => {
      clearTimeout(timer);
      resolve();
    };
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) stop();
    });
    req.once('end', stop).once('close', stop);
    req.resume();
  });
}
