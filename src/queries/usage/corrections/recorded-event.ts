import type { Knex } from 'knex';
import { boundsOf } from '../../../kernel/id.js';
import { arrayLiteral } from '../../../kernel/text/postgres-array.js';
import { amongSql, sqlRows } from '../../../models/db/sql-rows.js';
import {
  countFitting,
  isAsSentSql,
  readEventMessages,
  readMessagesAt,
} from '../../../models/usage/event-message.js';
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
       ${isAsSentSql('t')} as "isAsSent"
     from usage_event as t where t.tenant_id = :tenantId and ${amongSql('t.id')}`,
    { tenantId, ids: arrayLiteral(ids), ...boundsOf(ids) },
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

/** The same before its message is parsed: made of thousands, events outlive every collection of young objects. */
export interface SentFacts extends Pick<RecordedFacts, 'plan' | 'line'> {
  /** Null: the message is gone. */
  readonly text: string | null;
}

/** Bytes that PostgreSQL can compare with. */
const unlimited = Number.MAX_SAFE_INTEGER;

/** What is known of an event whose message is read. */
interface SentEvent extends Pick<RecordedEvent, 'id' | 'partition' | 'offset' | 'isAsSent'> {
  readonly charges: readonly Pick<
    RatedTransaction,
    'planId' | 'contractId' | 'contractServiceId'
  >[];
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

  /**
   * What events were rated with, of as many of the first ones as may be held at once, where that is limited;
   * of those without a message, what their charges keep of them.
   */
  async read(
    events: readonly RecordedEvent[],
    bytesMax = unlimited,
  ): Promise<Map<string, RecordedFacts>> {
    const { facts: sent } = await this.readSent(events, bytesMax);
    const facts = new Map<string, RecordedFacts>();
    for (const { id, charges } of events) {
      const known = sent.get(id);
      if (!known) continue;
      const { plan, line, text } = known;
      const isFromCharges = text === null && plan.logics.length === 0;
      const event = isFromCharges ? eventOfCharges(plan, charges) : sentEvent(text);
      facts.set(id, { plan, line, event, isFromMessage: text !== null });
    }
    return facts;
  }

  /** The same by messages alone, and the first event that was left out. */
  async readSent<Event extends SentEvent>(
    events: readonly Event[],
    bytesMax: number,
  ): Promise<{ readonly facts: Map<string, SentFacts>; readonly next: Event | undefined }> {
    const rated = events.filter(({ charges }) => charges.length > 0);
    const firsts = rated.flatMap(({ charges }) => charges.slice(0, 1));
    await this.#readPlans(firsts.map(({ planId }) => planId));
    const lines = await findLines(this.#db, this.#tenantId, firsts);
    const { texts, next } = await this.#readTexts(rated, bytesMax);
    const facts = new Map<string, SentFacts>();
    for (const { id, charges } of rated) {
      const [first] = charges;
      const [plan, text] = [this.#plans.get(first?.planId ?? ''), texts.get(id)];
      if (!first || !plan || text === undefined) continue;
      const line = lines.get(first.contractServiceId ?? '') ?? null;
      facts.set(id, { plan, line, text });
    }
    return { facts, next };
  }

  /** The messages of events: of the log by their places, and by their rows what is not found there. */
  async #readTexts<Event extends SentEvent>(events: readonly Event[], bytesMax: number) {
    const sent = events.filter(({ isAsSent }) => isAsSent);
    const read = await readMessagesAt(this.#db, this.#tenantId, sent, bytesMax);
    const texts = new Map(read.map((text, index) => [sent[index]?.id ?? '', text]));
    const cut = sent[read.length];
    const some = cut ? events.slice(0, events.indexOf(cut)) : events;
    const others = some.flatMap(({ id }) => (typeof texts.get(id) === 'string' ? [] : [id]));
    const count =
      bytesMax === unlimited
        ? others.length
        : await countFitting(this.#db, this.#tenantId, others, bytesMax);
    const found = await readEventMessages(this.#db, this.#tenantId, others.slice(0, count));
    for (const [id, text] of found) texts.set(id, text);
    const left = others[count];
    return { texts, next: left === undefined ? cut : events.find(({ id }) => id === left) };
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

/** The event of a message; null: it is gone, or none. */
export function sentEvent(text: string | null): UsageEvent | null {
  if (text === null) return null;
  const { read } = readMessage(text);
  return read.ok ? read.event : null;
}
