import { setTimeout as wait } from 'node:timers/promises';
import { defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';

/** A call is tried again after at most so long. */
const delayMsMax = 2_000;

/**
 * The SDK's retries of calls, made cancelable: the SDK retries from a timer, which would throw an
 * unhandled error when its connection is closed.
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
    /** Stops retrying; resolves when no retry is pending, so that the connection may be closed. */
    async end(): Promise<void> {
      isClosing = true;
      const restMs = lastRetryAt - Date.now();
      if (restMs > 0) await wait(restMs + 10);
    },
  };
}
