import type { Context } from 'koa';

/**
 * Calls back when the client has disconnected before it was answered: at once where it has left already,
 * since responses tell that only once, and what is begun later would wait for it in vain.
 */
export function whenGone({ res }: Context, leave: () => void): void {
  if (res.destroyed) {
    leave();
    return;
  }
  res.once('close', () => {
    if (!res.writableFinished) leave();
  });
}
