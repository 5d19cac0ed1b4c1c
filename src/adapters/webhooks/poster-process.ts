/**
 * The process that sends webhooks: it talks to addresses that anybody may have chosen, so it stands apart
 * from the one that serves requests, with a bounded memory and without secrets of the instance
 * (docs/decisions/0190). It is told what to send by its parent, and ends with it.
 */
import type { WebhookSettings } from './sender.js';
import { namesOf } from './sender.js';
import { faultOf, openPoster, type WebhookAnswer, type WebhookPost } from './poster.js';

/** What the process is told. */
export type Told = { readonly id: number; readonly post: WebhookPost };

/** What it tells: how the request with this id went. */
export interface Tells {
  readonly id: number;
  readonly answer: WebhookAnswer;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as WebhookSettings;
const poster = openPoster(settings, namesOf(settings));

function tell(message: Tells): void {
  // The parent may have ended a moment ago: then this process ends, too.
  if (process.connected) process.send?.(message, () => undefined);
}

process.on('message', ({ id, post }: Told) => {
  const startedAt = new Date();
  poster.post(post).then(
    (answer) => tell({ id, answer }),
    (error: unknown) => {
      const fault = faultOf(error, settings.timeoutMs);
      const kept = { isOk: false, statusCode: null, answer: null, durationMs: 0 };
      tell({ id, answer: { ...kept, error: fault, startedAt } });
    },
  );
});
process.on('disconnect', () => process.exit(0));
// A terminal signals all its processes: the parent drains first, and this one ends with it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) {
  process.on(signal, () => undefined);
}
