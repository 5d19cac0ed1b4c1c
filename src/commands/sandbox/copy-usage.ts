import type { Knex } from 'knex';
import { stringifyJson } from '../../kernel/text/json.js';
import { Decimal } from '../../kernel/numbers/money.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { Portions } from '../../kernel/portions.js';
import { copiedPartition, usageEventId, type UsageRecord } from '../../messages/usage-log.js';
import { findCutCounter } from '../../models/sandbox/copied-rows.js';
import { eventMessageWeightSql, insertMessages } from '../../models/usage/event-message.js';
import { RatedTransaction } from '../../models/usage/rated-transaction.js';
import { StoredRatingPlan } from '../../models/usage/plans/rating-plan.js';
import { noChange, UsageConsumer } from '../../models/usage/log-offset.js';
import { counterIdOf, UsageCounter } from '../../models/usage/usage-counter.js';
import {
  listDroppedMonths,
  monthsOfTimes,
  refuseArchived,
} from '../../models/usage/finding/dropped-month.js';
import { UsageEvent } from '../../models/usage/usage-event.js';
import { readHeavyPage } from '../../queries/lists/listing.js';
import { messageOf } from '../../queries/usage/gone-message.js';
import { recordedMoves, type RecordedMove } from '../../queries/usage/recorded-moves.js';
import { findLines, isChargeOf } from '../../queries/usage/usage-explanation.js';
import { readContent, type ReadMessage } from '../../queries/usage/usage-message.js';
import type { Outcome, RatedOutcome, UsageRejectionCode } from '../../queries/usage/usage-rater.js';
import {
  prepareFromPlan,
  ratePrepared,
  recomputeOperationsMax,
  Spending,
  type CounterKey,
  type PlanLine,
  type RatingPlan,
} from '../../rating/index.js';
import { UsageBatch } from '../usage/usage-batch.js';
import type { CopiedIds } from './copied-ids.js';

/** Events of one transaction. */
const eventsMax = 500;

/** What came of the usage. */
export interface CopiedUsage {
  readonly events: number;
  readonly charges: number;
  /** Events without a message (retention), or whose charges do not come out as they were. */
  readonly leftOut: number;
}

export interface UsageCopy {
  readonly from: Scope;
  readonly to: Scope;
  readonly ids: CopiedIds;
  /** The first day of usage that is copied; undefined: all of it. */
  readonly since: string | undefined;
  /** The last event that is copied: what arrives later is not of the copy. */
  readonly lastId: string | undefined;
  readonly run: { readonly workflowId: string; readonly runId: string };
}

/** 400: usage from this day on would begin in the middle of a meter period. */
export async function checkUsageStart({ db, tenantId }: Scope, since: string): Promise<void> {
  const cut = await findCutCounter(db.read, tenantId, since);
  if (!cut) return;
  const { attributeName, period, periodStart } = cut;
  throw problem.validation(
    period === 'none'
      ? `'${attributeName}' is counted without an end: copy all usage, without --usage-from.`
      : `${since} is within the ${period} meter period of '${attributeName}' that begins on ${periodStart}: usage is copied from the start of a meter period.`,
  );
}

/** 409: usage that is to be copied is in the archive alone. */
export async function requireUsageSince(
  { db, tenantId }: Scope,
  since: string | undefined,
): Promise<void> {
  const times = { from: since ?? null, to: null };
  refuseArchived(monthsOfTimes(await listDroppedMonths(db.read, tenantId), times));
}

/** The last event that a tenant has at this moment. */
export async function findLastEvent({ db, tenantId }: Scope): Promise<string | undefined> {
  const last = await UsageEvent.query(db.read)
    .forTenant(tenantId)
    .select('id')
    .orderBy('id', 'desc')
    .first();
  return last?.id;
}

/** The recorded inputs of a page of events, as they were and as the copy has them. */
interface Recorded {
  readonly charges: ReadonlyMap<string, readonly RatedTransaction[]>;
  readonly plans: ReadonlyMap<string, readonly [old: RatingPlan, copied: RatingPlan]>;
  readonly lines: ReadonlyMap<string, PlanLine>;
}

/** What a counter gains by a page. */
interface Gain {
  readonly key: CounterKey;
  value: Decimal;
  readonly counted: string[];
}

/** Copies the usage of a tenant, event by event (docs/decisions/0383). */
class UsageCopier {
  readonly #copy: UsageCopy;
  readonly #plans = new Map<string, readonly [RatingPlan, RatingPlan]>();
  #offset = 0;
  events = 0;
  charges = 0;
  leftOut = 0;

  constructor(copy: UsageCopy) {
    this.#copy = copy;
  }

  /** The next events that are copied, originals alone; those of a page fit into memory. */
  async readPage(after: string | undefined) {
    const { from, since, lastId } = this.#copy;
    const query = UsageEvent.withText(UsageEvent.query(from.db.read).forTenant(from.tenantId))
      .whereNull('originalId')
      .whereIn('status', ['rated', 'rejected'])
      .orderBy('usageEvent.id');
    if (after !== undefined) void query.where('usageEvent.id', '>', after);
    if (lastId !== undefined) void query.where('usageEvent.id', '<=', lastId);
    if (since !== undefined) {
      void query.whereRaw(
        `coalesce(event_at, received_at) >= ?::date::timestamp at time zone 'UTC'`,
        [since],
      );
    }
    return readHeavyPage(
      query,
      { limit: eventsMax, offset: 0 },
      {
        sql: eventMessageWeightSql('usage_event'),
        bytesOf: ({ text }) => text?.length ?? 0,
      },
    );
  }

  async #readRecorded(events: readonly UsageEvent[]): Promise<Recorded> {
    const { from, ids } = this.#copy;
    const { read } = from.db;
    const rated = events.filter(({ status }) => status === 'rated').map(({ id }) => id);
    const found = await RatedTransaction.ofEvents(read, from.tenantId, rated);
    const charges = new Map([...found].map(([id, of]) => [id, standing(of)] as const));
    const firsts = [...charges.values()].flatMap(([first]) => (first ? [first] : []));
    const missing = new Set(
      firsts.map(({ planId }) => planId).filter((id) => !this.#plans.has(id)),
    );
    const stored = await StoredRatingPlan.query(read)
      .forTenant(from.tenantId)
      .whereRaw('id = any(?::uuid[])', [[...missing]]);
    for (const { id, plan } of stored) {
      this.#plans.set(id, [plan, ids.inJson(plan) as RatingPlan]);
    }
    return { charges, plans: this.#plans, lines: await findLines(read, from.tenantId, firsts) };
  }

  /** Copies a page in one transaction; returns the last event of it. */
  async copyPage(events: readonly UsageEvent[]): Promise<string | undefined> {
    const { to, run } = this.#copy;
    const recorded = await this.#readRecorded(events);
    const batch = new UsageBatch({ ...run, at: to.realNow() }, to.realNow());
    const portions = new Portions();
    const gains = new Map<string, Gain>();
    const records: UsageRecord[] = [];
    let last: string | undefined;
    for (const event of events) {
      if (batch.isFull) break;
      last = event.id;
      const message = this.#messageOf(event);
      const outcome = message && this.#outcomeOf(event, message, recorded, gains);
      if (!outcome) {
        this.leftOut += 1;
        continue;
      }
      const { orgId, receivedAt } = event;
      const offset = this.#offset;
      const id = usageEventId(receivedAt, copiedPartition, offset);
      const text = stringifyJson(message.content);
      const { accountId } = outcome;
      const place = { id, partition: copiedPartition, offset, orgId, receivedAt, accountId, text };
      batch.add(place, message, () => outcome);
      await batch.charge(portions);
      records.push({ offset, key: message.accountRef ?? '', orgId, receivedAt, message: text });
      this.#offset += 1;
    }
    await to.db.transaction((trx) => this.#write(trx, batch, gains, records));
    return last;
  }

  async #write(
    trx: Knex.Transaction,
    batch: UsageBatch,
    gains: ReadonlyMap<string, Gain>,
    records: readonly UsageRecord[],
  ): Promise<void> {
    const { to } = this.#copy;
    const { tenantId } = to;
    await UsageConsumer.lock(trx, tenantId, copiedPartition);
    const known = await UsageCounter.lock(trx, tenantId, [...gains.keys()]);
    const counters = [...gains].map(([text, { key, value, counted }]) => {
      const before = known.get(text);
      return { key, value: before ? before.plus(value) : value, isNew: !before, counted };
    });
    await insertMessages(trx, tenantId, copiedPartition, records);
    await batch.write(trx, to, counters);
    const tally = batch.tallies().get(copiedPartition) ?? noChange();
    await UsageConsumer.advance(trx, tenantId, copiedPartition, {
      ...tally,
      nextOffset: this.#offset,
    });
    this.events += records.length;
    this.charges += tally.transactions;
  }

  /** The message as the copy has it: its service is that of the copy. */
  #messageOf(event: UsageEvent): ReadMessage | undefined {
    if (event.text === null) return undefined;
    const { content } = messageOf(event);
    if (typeof content !== 'object' || content === null || !('serviceId' in content)) {
      return readContent(content);
    }
    const { serviceId } = content;
    if (typeof serviceId !== 'string') return readContent(content);
    return readContent({ ...content, serviceId: this.#copy.ids.of(serviceId.toLowerCase()) });
  }

  #outcomeOf(
    event: UsageEvent,
    message: ReadMessage,
    recorded: Recorded,
    gains: Map<string, Gain>,
  ): Outcome | undefined {
    if (event.status === 'rated') return this.#ratedAgain(event, message, recorded, gains);
    const { code, reason } = event;
    return {
      status: 'rejected',
      accountId: this.#copy.ids.ofNullable(event.accountId),
      code: (code ?? 'INVALID_EVENT') as UsageRejectionCode,
      reason: reason ?? '',
    };
  }

  /**
   * The charges of an event by what was recorded when it was rated, with the ids of the copy;
   * undefined where that does not come to the same amounts.
   */
  #ratedAgain(
    event: UsageEvent,
    { read }: ReadMessage,
    { charges, plans, lines }: Recorded,
    gains: Map<string, Gain>,
  ): RatedOutcome | undefined {
    const { ids } = this.#copy;
    const stored = charges.get(event.id) ?? [];
    const [first] = stored;
    const [plan, copiedPlan] = plans.get(first?.planId ?? '') ?? [];
    const old = messageOf(event).read;
    if (!first || !plan || !copiedPlan || !read.ok || !old.ok) return undefined;
    const line = lines.get(first.contractServiceId ?? '') ?? null;
    const copiedLine = line === null ? null : (ids.inJson(line) as PlanLine);
    const owner = { accountId: first.masterAccountId, line };
    const copiedOwner = { accountId: ids.of(first.masterAccountId), line: copiedLine };
    const spending = () => new Spending(recomputeOperationsMax);
    const was = prepareFromPlan(plan, old.event, owner, spending());
    const prepared = prepareFromPlan(copiedPlan, read.event, copiedOwner, spending());
    if (!was.ok || !prepared.ok) return undefined;
    const moves = recordedMoves({ charges: stored });
    const found = new Map<string, RecordedMove | undefined>();
    for (const [name, { counter }] of prepared.selected) {
      const known = was.selected.get(name)?.counter;
      if (counter && known) found.set(counter.text, moves.get(counterIdOf(known.text)));
    }
    const rated = ratePrepared(prepared, {
      get: (key) => found.get(key)?.before,
      // Values have other names in the copy, since they are named with their counters.
      hasCounted: (key) => found.get(key)?.volume.isZero() === true,
    });
    if (!rated.ok || rated.transactions.length !== stored.length) return undefined;
    const isSame = stored.every((charge) => {
      const isOf = isChargeOf(ids.of(charge.accountId), charge.usageType, charge.shareOf !== null);
      return rated.transactions.find(isOf)?.amount.equals(charge.amount) === true;
    });
    if (!isSame) return undefined;
    for (const change of rated.counterChanges) {
      const gain = gains.get(change.keyText) ?? {
        key: change.key,
        value: new Decimal(0),
        counted: [],
      };
      gain.value = gain.value.plus(change.after).minus(change.before);
      if (change.value?.isNew === true) gain.counted.push(change.value.id);
      gains.set(change.keyText, gain);
    }
    return { status: 'rated', accountId: copiedOwner.accountId, prepared, rated };
  }
}

/** Charges that are not taken back: neither reversed nor reversals. */
function standing(charges: readonly RatedTransaction[]): readonly RatedTransaction[] {
  const reversed = new Set(charges.map(({ reverses }) => reverses));
  return charges.filter(({ id, reverses }) => reverses === null && !reversed.has(id));
}

/** Copies the usage of a tenant and its charges; `onPage` hears how far it is. */
export async function copyUsage(
  copy: UsageCopy,
  onPage: (copied: CopiedUsage) => void,
): Promise<CopiedUsage> {
  const copier = new UsageCopier(copy);
  for (let after: string | undefined; ;) {
    const { rows } = await copier.readPage(after);
    if (rows.length === 0) break;
    after = (await copier.copyPage(rows)) ?? after;
    onPage({ events: copier.events, charges: copier.charges, leftOut: copier.leftOut });
  }
  const { events, charges, leftOut } = copier;
  return { events, charges, leftOut };
}
