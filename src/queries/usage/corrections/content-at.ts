import type { Knex } from 'knex';
import { sqlRows } from '../../../models/db/sql-rows.js';
import {
  countFitting,
  eventContentsWeightSql,
  pageBytesMax,
  sentMessageSql,
} from '../../../models/usage/event-message.js';
import type { RatedTransaction } from '../../../models/usage/rated-transaction.js';

/** The content that an event had from an instant on; null: from the start. */
interface Content {
  readonly eventId: string;
  readonly since: Date | null;
  /** Null: its message is gone. */
  readonly text: string | null;
}

/**
 * The first of these charges of events, as many as have contents that may be held at once: what explains a
 * charge is read from them (docs/decisions/0482).
 */
export async function chargesThatFit<Charge>(
  db: Knex,
  tenantId: string,
  charges: readonly Charge[],
  eventIdOf: (charge: Charge) => string,
): Promise<readonly Charge[]> {
  const ids = [...new Set(charges.map(eventIdOf))];
  const count = await countFitting(db, tenantId, ids, pageBytesMax, eventContentsWeightSql);
  const left = new Set(ids.slice(count));
  const end = charges.findIndex((charge) => left.has(eventIdOf(charge)));
  return end < 0 ? charges : charges.slice(0, end);
}

/** The contents of each of these events, in the order in which it got them. */
export async function readContents(
  db: Knex,
  tenantId: string,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Content[]>> {
  const found = new Map<string, Content[]>();
  if (eventIds.length === 0) return found;
  const rows = await sqlRows<Content>(
    db,
    `select t.id as "eventId", null::timestamptz as since, ${sentMessageSql('t')} as text
     from usage_event as t where t.tenant_id = :tenantId and t.id = any(:ids::uuid[])
     union all
     select event_id, changed_at, message from usage_event_change
     where tenant_id = :tenantId and event_id = any(:ids::uuid[]) and message is not null
     order by 1, 2 nulls first`,
    { tenantId, ids: eventIds },
  );
  for (const content of rows) {
    const known = found.get(content.eventId);
    if (known) known.push(content);
    else found.set(content.eventId, [content]);
  }
  return found;
}

/** The content that an event had at an instant. */
export const contentAt = (contents: readonly Content[] | undefined, at: Date): string | null =>
  (contents ?? []).filter(({ since }) => since === null || since <= at).at(-1)?.text ?? null;

/** The charges that were made with this one, by one rating of the event. */
export const madeTogether = (
  all: readonly RatedTransaction[],
  { correctionId, planId }: RatedTransaction,
): RatedTransaction[] =>
  all.filter(
    (one) => one.reverses === null && one.correctionId === correctionId && one.planId === planId,
  );
