import type { Context } from '@temporalio/activity';

/** Interval of the heartbeats of a long step. */
const heartbeatMs = 2_000;

/** Sends heartbeats while a step works. */
export async function beating<T>(
  context: Pick<Context, 'heartbeat'>,
  work: () => Promise<T>,
): Promise<T> {
  const timer = setInterval(() => context.heartbeat(), heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
