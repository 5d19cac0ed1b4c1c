import type { Knex } from 'knex';
import { boundsOf } from '../../../kernel/id.js';
import { arrayLiteral } from '../../../kernel/text/postgres-array.js';
import { amongSql, sqlRows } from '../../../models/db/sql-rows.js';
import {
  countFitting,
  isAsSentSql,
  pageBytesMax,
  readEventMessages,
  readMessagesAt,
} from '../../../models/usage/event-message.js';
import { RatedTransaction, standing } from '../../../models/usage/rated-transaction.js';
import { readPlans } from '../../../models/usage/plans/read-plans.js';
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

/** What is known of an event whose message is read. */
interface SentEvent extends Pick<RecordedEvent, 'id' | 'partition' | 'offset' | 'isAsSent'> {
  readonly charges: readonly Pick<
    RatedTransaction,
    'planId' | 'contractId' | 'contractServiceId'
  >[];
}

/** Events of which something was read, and the first of those that were left out. */
export interface ReadEvents<Facts, Event> {
  readonly facts: ReadonlyMap<string, Facts>;
  readonly next: Event | undefined;
}

/** Reads what events were rated with, of as many of the first ones as may be held at once. */
export class RecordedReader {
  readonly #db: Knex;
  readonly #tenantId: string;

  constructor(db: Knex, tenantId: string) {
    this.#db = db;
    this.#tenantId = tenantId;
  }

  /** What events were rated with; of those without a message, what their charges keep of them. */
  async read(events: readonly RecordedEvent[]): Promise<ReadEvents<RecordedFacts, RecordedEvent>> {
    const { facts: sent, next } = await this.readSent(events);
    const facts = new Map<string, RecordedFacts>();
    for (const { id, charges } of events) {
      const known = sent.get(id);
      if (!known) continue;
      const { plan, line, text } = known;
      const isFromCharges = text === null && plan.logics.length === 0;
      const event = isFromCharges ? eventOfCharges(plan, charges) : sentEvent(text);
      facts.set(id, { plan, line, event, isFromMessage: text !== null });
    }
    return { facts, next };
  }

  /** The same by messages alone. */
  async readSent<Event extends SentEvent>(
    events: readonly Event[],
  ): Promise<ReadEvents<SentFacts, Event>> {
    const all = events.filter(({ charges }) => charges.length > 0);
    const store = { db: this.#db, tenantId: this.#tenantId };
    const { plans, count } = await readPlans(
      store,
      all.map(({ charges: [first] }) => (first ? [first.planId] : [])),
    );
    const rated = all.slice(0, count);
    const firsts = rated.flatMap(({ charges }) => charges.slice(0, 1));
    const lines = await findLines(this.#db, this.#tenantId, firsts);
    const { texts, next = all[count] } = await this.#readTexts(rated);
    const facts = new Map<string, SentFacts>();
    for (const { id, charges } of rated) {
      const [first] = charges;
      const [plan, text] = [plans.get(first?.planId ?? ''), texts.get(id)];
      if (!first || !plan || text === undefined) continue;
      const line = lines.get(first.contractServiceId ?? '') ?? null;
      facts.set(id, { plan, line, text });
    }
    return { facts, next };
  }

  /** The messages of events: of the log by their places, and by their rows what is not found there. */
  async #readTexts<Event extends SentEvent>(events: readonly Event[]) {
    const sent = events.filter(({ isAsSent }) => isAsSent);
    const read = await readMessagesAt(this.#db, this.#tenantId, sent, pageBytesMax);
    const texts = new Map(read.map((text, index) => [sent[index]?.id ?? '', text]));
    const cut = sent[read.length];
    const some = cut ? events.slice(0, events.indexOf(cut)) : events;
    const others = some.flatMap(({ id }) => (typeof texts.get(id) === 'string' ? [] : [id]));
    const count = await countFitting(this.#db, this.#tenantId, others, pageBytesMax);
    const found = await readEventMessages(this.#db, this.#tenantId, others.slice(0, count));
    for (const [id, text] of found) texts.set(id, text);
    const left = others[count];
    return { texts, next: left === undefined ? cut : events.find(({ id }) => id === left) };
  }
}

/** The event of a message; null: it is gone, or none. */
export function sentEvent(text: string | null): UsageEvent | null {
  if (text === null) return null;
  const { read } = readMessage(text);
  return read.ok ? read.event : null;
}
