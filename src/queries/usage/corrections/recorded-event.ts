import type { Knex } from 'knex';
import { arrayLiteral } from '../../../kernel/text/postgres-array.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import { eventMessageSql, readEventMessages } from '../../../models/usage/event-message.js';
import { RatedTransaction, standing } from '../../../models/usage/rated-transaction.js';
import { StoredRatingPlan } from '../../../models/usage/rating-plan.js';
import type { UsageStatus } from '../../../models/usage/usage-event.js';
import type { PlanLine, RatingPlan, UsageEvent } from '../../../rating/index.js';
import { eventOfCharges } from '../gone-message.js';
import { findLines } from '../usage-explanation.js';
import { readMessage } from '../usage-message.js';

/** A usage event as the books have it. */
export interface RecordedEvent {
  readonly id: string;
  readonly partition: number;
  readonly status: UsageStatus;
  readonly accountId: string | null;
  readonly serviceId: string | null;
  /** The hour in which it occurred, `YYYY-MM-DDTHH` in UTC. */
  readonly hour: string;
  /** Its charges that stand. */
  readonly charges: readonly RatedTransaction[];
  /** How many charges it ever had, reversals among them. */
  readonly chargeCount: number;
  /** Its message, null where it is gone; left out where it was not asked for. */
  readonly text?: string | null;
}

type EventRow = Omit<RecordedEvent, 'charges' | 'chargeCount'>;

/** These events with their charges, in the order of the ids; with their messages where that is said. */
export async function readRecordedEvents(
  db: Knex,
  tenantId: string,
  ids: readonly string[],
  withMessages = false,
): Promise<RecordedEvent[]> {
  if (ids.length === 0) return [];
  const reading = sqlRows<EventRow>(
    db,
    `select t.id, t.partition, t.status, t.account_id as "accountId", t.service_id as "serviceId",
       to_char(coalesce(t.event_at, t.received_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24') as "hour"
       ${withMessages ? `, ${eventMessageSql('t')} as text` : ''}
     from usage_event as t where t.tenant_id = ? and t.id = any(?::uuid[])`,
    [tenantId, arrayLiteral(ids)],
  );
  const [rows, charges] = await Promise.all([
    reading,
    RatedTransaction.allOfEvents(db, tenantId, ids),
  ]);
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => {
    const row = found.get(id);
    const all = charges.get(id) ?? [];
    return row ? [{ ...row, charges: standing(all), chargeCount: all.length }] : [];
  });
}

/** What an event was rated with, as it was recorded. */
export interface RecordedFacts {
  readonly plan: RatingPlan;
  readonly line: PlanLine | null;
  /** Null: its message is gone, and its charges do not tell enough of it. */
  readonly event: UsageEvent | null;
  /** Whether it was read from the message, not only from what its charges keep. */
  readonly isFromMessage: boolean;
}

/** Reads what events were rated with; plans are read once. */
export class RecordedReader {
  readonly #db: Knex;
  readonly #tenantId: string;
  readonly #plans = new Map<string, RatingPlan>();

  constructor(db: Knex, tenantId: string) {
    this.#db = db;
    this.#tenantId = tenantId;
  }

  async read(events: readonly RecordedEvent[]): Promise<Map<string, RecordedFacts>> {
    const rated = events.filter(({ charges }) => charges.length > 0);
    const firsts = rated.flatMap(({ charges }) => charges.slice(0, 1));
    await this.#readPlans(firsts.map(({ planId }) => planId));
    const lines = await findLines(this.#db, this.#tenantId, firsts);
    const unread = rated.flatMap(({ id, text }) => (text === undefined ? [id] : []));
    const messages = await readEventMessages(this.#db, this.#tenantId, unread);
    return new Map(
      rated.flatMap(({ id, charges, text: read }) => {
        const [first] = charges;
        const plan = this.#plans.get(first?.planId ?? '');
        if (!first || !plan) return [];
        const line = lines.get(first.contractServiceId ?? '') ?? null;
        const text = read === undefined ? (messages.get(id) ?? null) : read;
        const event = eventOf(text, plan, charges);
        return [[id, { plan, line, event, isFromMessage: text !== null }]];
      }),
    );
  }

  async #readPlans(ids: readonly string[]): Promise<void> {
    const missing = [...new Set(ids)].filter((id) => !this.#plans.has(id));
    if (missing.length === 0) return;
    const plans = await StoredRatingPlan.query(this.#db)
      .forTenant(this.#tenantId)
      .whereIn('id', missing);
    for (const { id, plan } of plans) this.#plans.set(id, plan);
  }
}

function eventOf(
  text: string | null,
  plan: RatingPlan,
  charges: readonly RatedTransaction[],
): UsageEvent | null {
  if (text === null) return plan.logics.length > 0 ? null : eventOfCharges(plan, charges);
  const { read } = readMessage(text);
  return read.ok ? read.event : null;
}
