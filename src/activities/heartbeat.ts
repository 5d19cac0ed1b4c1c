import { Context } from '@temporalio/activity';
import { activityFailure } from './failure.js';

/** How often a long step tells that it lives. */
const heartbeatMs = 2_000;

/** Does the work of a long step, and tells meanwhile that it lives. */
export async function alive<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), heartbeatMs);
  try {
    return await work();
  } catch (error) {
    throw activityFailure(error);
  } finally {
    clearInterval(timer);
  }
}
