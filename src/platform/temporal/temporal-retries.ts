import { setTimeout as wait } from 'node:timers/promises';
import { defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';

/** A call is tried again after at most so long. */
const delayMsMax = 2_000;

/**
 * The SDK's own retries of calls, which can be ended: it tries again from a timer, and a timer that
 * finds its connection closed would throw where nobody can catch it.
 */
export function closableRetries() {
  const defaults = defaultGrpcRetryOptions();
  let isClosing = false;
  let lastRetryAt = 0;
  const interceptor = makeGrpcRetryInterceptor({
    ...defaults,
    retryableDecider: (attempt, status) => !isClosing && defaults.retryableDecider(attempt, status),
    delayFunction(attempt, status) {
      const delayMs = Math.min(defaults.delayFunction(attempt, status), delayMsMax);
      lastRetryAt = Math.max(lastRetryAt, Date.now() + delayMs);
      return delayMs;
    },
  });
  return {
    interceptor,
    /** Tries nothing more; resolves when no retry is waiting, so that the connection may be closed. */
    async end(): Promise<void> {
      isClosing = true;
      const restMs = lastRetryAt - Date.now();
      if (restMs > 0) await wait(restMs + 10);
    },
  };
}
