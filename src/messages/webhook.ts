/** The events of webhooks, and the input of their workflow: known to all layers. */

/** The kinds of events (spec/platform.md R37). */
export const webhookEvents = [
  'workflow.completed',
  'mdata.created',
  'mdata.updated',
  'mdata.deleted',
  'usage.rated',
  'usage.rejected',
  'usage.canceled',
  'usage.corrected',
  'invoice.posted',
  'invoice.paid',
  'invoice.overdue',
  'invoice.voided',
  'payment.saved',
  'payment.applied',
  'alert.triggered',
  'audit.difference',
] as const;

export type WebhookEvent = (typeof webhookEvents)[number] | `custom.${string}`;

/** The kind of what `POST /v1/webhooks/{id}/test` sends; nobody registers for it. */
export const testEvent = 'webhook.test';

/** How a delivery stands: `retrying` while it waits for its next attempt. */
export const deliveryStatuses = ['pending', 'sending', 'retrying', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** The channel on which PostgreSQL notifies of new deliveries. */
export const webhookChannel = 'durabill_webhook';

/** A delivery as its workflow is given it. */
export interface WebhookDeliveryRun {
  readonly tenantId: string;
  readonly webhookId: string;
  readonly deliveryId: string;
  /** Which time that it is sent. */
  readonly round: number;
  /** The attempt to begin with, counted from 1. */
  readonly number: number;
  /** Before each attempt of a round: how long after the one before it. */
  readonly delaysMs: readonly number[];
}

/** One attempt, as its activity is called. */
export interface WebhookAttemptCall {
  readonly tenantId: string;
  readonly webhookId: string;
  readonly deliveryId: string;
  readonly round: number;
  readonly number: number;
  /** How long after this one the next attempt comes; null: this is the last. */
  readonly retryInMs: number | null;
}

/** What follows an attempt: nothing, the next one, or the same once there is room for it. */
export type WebhookAttemptEnd = 'done' | 'retry' | 'busy';

const webhookSuffix = '-webhooks';

/**
 * Webhooks have a task queue of their own beside that of the rest (`taskQueue` may be either):
 * receivers that hang, and thousands of deliveries at once, must keep nothing else waiting.
 */
export const webhookQueue = (taskQueue: string): string =>
  taskQueue.endsWith(webhookSuffix) ? taskQueue : `${taskQueue}${webhookSuffix}`;
