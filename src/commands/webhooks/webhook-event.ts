import type { Knex } from 'knex';
import type { Scope } from '../../kernel/scope.js';
import { stringifyJsonInPortions } from '../../kernel/text/json-write-portions.js';
import { Portions } from '../../kernel/portions.js';
import type { WebhookEvent } from '../../messages/webhook.js';
import { onceInTransaction } from '../../models/db/once-in-transaction.js';
import { WebhookOutbox, type WantedEvents } from '../../models/webhooks/webhook-event.js';

/** A change that webhooks are notified of (spec/platform.md R37). */
export interface WebhookEventInput {
  readonly event: WebhookEvent;
  /** The record that changed: events of one record are delivered in their order. */
  readonly recordId: string;
  /** The record as the API shows it. */
  readonly data: object;
}

/** The tenant of a change, and the clock. */
export type WebhookOrigin = Pick<Scope, 'tenantId' | 'now' | 'depth'>;

/** The body that receivers get: the same shape for every kind. */
export const webhookBody = (event: string, at: Date, data: object): string | Promise<string> =>
  stringifyJsonInPortions({ event, timestamp: at.toISOString(), data }, { isUneven: true });

/** The wanted kinds, queried once in each transaction, which serves one tenant. */
export const wantedKinds = (trx: Knex.Transaction, tenantId: string): Promise<WantedEvents> =>
  onceInTransaction(trx, 'wanted kinds', () => WebhookOutbox.wanted(trx, tenantId));

/**
 * Writes a webhook event to the outbox, in the transaction of its change. Costs one query if no
 * webhook is active. The record's row must be locked, so that its events are written in the order
 * of its changes.
 */
export function recordWebhookEvent(
  trx: Knex.Transaction,
  from: WebhookOrigin,
  event: WebhookEventInput,
): Promise<void> {
  return recordWebhookEvents(trx, from, [event.event], () => [event]);
}

/**
 * The same for many changes: `make` is called only if a webhook wants one of the kinds, with a
 * predicate for the wanted ones. One statement writes any number of events.
 */
export async function recordWebhookEvents(
  trx: Knex.Transaction,
  { tenantId, now, depth }: WebhookOrigin,
  kinds: readonly WebhookEvent[],
  make: (
    isWanted: (kind: WebhookEvent) => boolean,
  ) => readonly WebhookEventInput[] | Promise<readonly WebhookEventInput[]>,
): Promise<void> {
  const { all: wanted, triggers, listened } = await wantedKinds(trx, tenantId);
  if (!kinds.some((kind) => wanted.has(kind))) return;
  const at = now();
  const changes = await make((kind) => wanted.has(kind));
  const events: { event: WebhookEvent; recordId: string; body: string }[] = [];
  const portions = new Portions();
  for (const { event, recordId, data } of changes) {
    if (!wanted.has(event)) continue;
    events.push({ event, recordId, body: await webhookBody(event, at, data) });
    if (portions.isOver) await portions.rest();
  }
  await WebhookOutbox.record(trx, tenantId, events, { at, depth, wanted: { triggers, listened } });
}
