import type { Knex } from 'knex';
import { arrayLiteral } from '../../../kernel/text/postgres-array.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import { readEventMessages, readMessagesAt } from '../../../models/usage/event-message.js';
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
  readonly offset: number;
  /** Whether it has the message that stands at its place in the log. */
  readonly isAsSent: boolean;
}

type EventRow = Omit<RecordedEvent, 'charges' | 'chargeCount'>;

/** Of most tenants none was amended: then nothing is looked for. */
const isAsSentSql = `t.message is null and (
  (select not exists (
    select from usage_event_change where tenant_id = :tenantId and message is not null
  )) or not exists (
    select from usage_event_change as amended
    where amended.tenant_id = :tenantId and amended.event_id = t.id and amended.message is not null
    offset 0
  ))`;

/** These events with their charges, in the order of the ids. */
export async function readRecordedEvents(
  db: Knex,
  tenantId: string,
  ids: readonly string[],
): Promise<RecordedEvent[]> {
  if (ids.length === 0) return [];
  const reading = sqlRows<EventRow>(
    db,
    `select t.id, t.partition, t."offset"::float8 as "offset", t.status,
       t.account_id as "accountId", t.service_id as "serviceId",
       to_char(coalesce(t.event_at, t.received_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24') as "hour",
       ${isAsSentSql} as "isAsSent"
     from usage_event as t where t.tenant_id = :tenantId and t.id = any(:ids::uuid[])`,
    { tenantId, ids: arrayLiteral(ids) },
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
    const texts = await this.#readTexts(rated);
    return new Map(
      rated.flatMap(({ id, charges }) => {
        const [first] = charges;
        const plan = this.#plans.get(first?.planId ?? '');
        if (!first || !plan) return [];
        const line = lines.get(first.contractServiceId ?? '') ?? null;
        const text = texts.get(id) ?? null;
        const event = eventOf(text, plan, charges);
        return [[id, { plan, line, event, isFromMessage: text !== null }]];
      }),
    );
  }

  /** The messages of events: of the log by their places, and by their rows what is not found there. */
  async #readTexts(events: readonly RecordedEvent[]): Promise<ReadonlyMap<string, string | null>> {
    const sent = events.filter(({ isAsSent }) => isAsSent);
    const read = await readMessagesAt(this.#db, this.#tenantId, sent);
    const texts = new Map(sent.map(({ id }, index) => [id, read[index] ?? null]));
    const others = events.flatMap(({ id }) => (typeof texts.get(id) === 'string' ? [] : [id]));
    const found = await readEventMessages(this.#db, this.#tenantId, others);
    for (const [id, text] of found) texts.set(id, text);
    return texts;
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
