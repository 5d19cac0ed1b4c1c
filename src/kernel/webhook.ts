/** What webhooks tell of, and what their workflow is given: known to all layers. */

/** The kinds of events (document 2, section 6; 0-decisions.md section 3). */
export const webhookEvents = [
  'workflow.completed',
  'mdata.created',
  'mdata.updated',
  'mdata.deleted',
  'usage.rated',
  'usage.rejected',
  'invoice.posted',
  'payment.saved',
] as const;

export type WebhookEvent = (typeof webhookEvents)[number];

/** The kind of what `POST /v1/webhooks/{id}/test` sends; nobody registers for it. */
export const testEvent = 'webhook.test';

/** How a delivery stands: `retrying` while it waits for its next attempt. */
export const deliveryStatuses = ['pending', 'sending', 'retrying', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** The channel on which PostgreSQL tells of new deliveries. */
export const webhookChannel = 'durabill_webhook';
