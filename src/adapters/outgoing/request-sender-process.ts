/**
 * The process that sends webhooks. It connects to addresses chosen by strangers, so it is isolated
 * from the process that serves requests, with bounded memory and without the instance's secrets
 * (docs/decisions/0190). Its parent sends it the requests, and it ends with its parent.
 */
import type { WebhookSettings } from '../webhooks/webhook-sender.js';
import { namesOf } from '../webhooks/webhook-sender.js';
import {
  faultOf,
  openRequestSender,
  type WebhookAnswer,
  type OutgoingRequest,
} from './request-sender.js';

/** What the process is told. */
export type Told = { readonly id: number; readonly post: OutgoingRequest };

/** What it tells: how the request with this id went. */
export interface Tells {
  readonly id: number;
  readonly answer: WebhookAnswer;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as WebhookSettings;
const requestSender = openRequestSender(settings, namesOf(settings));

function reply(message: Tells): void {
  // The parent may have ended a moment ago: then this process ends, too.
  if (process.connected) process.send?.(message, () => undefined);
}

process.on('message', ({ id, post }: Told) => {
  const startedAt = new Date();
  requestSender.post(post).then(
    (answer) => reply({ id, answer }),
    (error: unknown) => {
      const fault = faultOf(error, settings.timeoutMs);
      const kept = { isOk: false, statusCode: null, answer: null, durationMs: 0 };
      reply({ id, answer: { ...kept, error: fault, startedAt } });
    },
  );
});
process.on('disconnect', () => process.exit(0));
// A terminal signals all its processes: the parent drains first, and this one ends with it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) {
  process.on(signal, () => undefined);
}
