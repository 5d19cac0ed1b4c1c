const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/**
 * When a delivery is tried again, as in the README: eight attempts in more than a day
 * (docs/decisions/0092). `workflows/webhooks/deliver-webhook.ts` waits between them, `commands/webhooks/webhook-delivery.ts`
 * switches off what fails for too long.
 */
export const webhookSchedule = {
  /** Before each attempt: how long after the one before it. */
  delaysMs: [
    0,
    5_000,
    5 * minuteMs,
    30 * minuteMs,
    2 * hourMs,
    5 * hourMs,
    10 * hourMs,
    10 * hourMs,
  ],
  /** After how long without success a webhook is switched off. */
  failureMsMax: 5 * 24 * hourMs,
};
