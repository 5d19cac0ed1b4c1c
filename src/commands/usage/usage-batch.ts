import type { Knex } from 'knex';
import type { Scope } from '../../kernel/scope.js';
import type { Portions } from '../../kernel/portions.js';
import {
  RatedTransaction,
  type RatedTransactionRow,
} from '../../models/usage/rated-transaction.js';
import { StoredRatingPlan } from '../../models/usage/plans/rating-plan.js';
import { noChange, type TallyChange } from '../../models/usage/log-offset.js';
import { UsageCounter } from '../../models/usage/usage-counter.js';
import {
  UsageEvent,
  type UsageCounts,
  type UsageEventRow,
} from '../../models/usage/usage-event.js';
import { writeTogether, type BulkStatement } from '../../models/db/bulk-table.js';
import { readMessage, type ReadMessage } from '../../queries/usage/usage-message.js';
import { messageOf } from '../../queries/usage/gone-message.js';
import type { MovedCounter, Outcome, RatedOutcome } from '../../queries/usage/usage-rater.js';
import type { RatingPlan } from '../../rating/index.js';
import { searchedIds } from '../../models/usage/usage-search.js';
import { chargeRow } from './charge-row.js';
import { comparable, isRepeatOf, type Original } from './repeated-event.js';
import { UsageTotals } from './usage-totals.js';
import { wantedKinds, type WebhookOrigin } from '../webhooks/webhook-event.js';
import { recordUsageOutcomes } from './usage-webhook-event.js';
import { countCharges, countedCharge, type CountedCharge } from '../balances/trigger-alerts.js';
import { payCharges } from '../balances/pay-charges.js';

/** Which workflow run writes, and when by the tenant's clock. */
export interface RatingRun {
  readonly workflowId: string;
  readonly runId: string;
  readonly at: Date;
}

/** The number of messages by outcome; rejected ones by reason code. */
export interface UsageEnds extends Pick<UsageCounts, 'rated' | 'duplicate'> {
  readonly rejected: ReadonlyMap<string, number>;
}

/** The position of a message in the log, and the account that it names. */
export type Place = Pick<
  UsageEventRow,
  'id' | 'partition' | 'offset' | 'orgId' | 'receivedAt' | 'accountId'
> & {
  readonly text: string;
};

/**
 * Maximum charge rows of one transaction; above it no further event is added (docs/decisions/0281).
 */
const chargeRowsMax = 10_000;

/** Error messages may quote characters that PostgreSQL cannot store. */
const storable = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed();

/** Collects the outcomes of a batch of messages, and writes them with one statement per table. */
export class UsageBatch {
  readonly #run: RatingRun;
  readonly #knownAt: Date;
  readonly #originals = new Map<string, Original>();
  /** The originals as they were stored, to be subtracted from their partition's tally. */
  readonly #before = new Map<string, UsageEventRow>();
  readonly #inserted: UsageEventRow[] = [];
  readonly #updated = new Map<string, UsageEventRow>();
  /** What was added since, whose charges are still to be made. */
  readonly #uncharged: { readonly row: UsageEventRow; readonly outcome: RatedOutcome }[] = [];
  readonly #transactions: RatedTransactionRow[] = [];
  /** How many of them there are of each partition. */
  readonly #charges = new Map<number, number>();
  #rows = 0;
  readonly #plans = new Set<RatingPlan>();
  readonly #totals = new UsageTotals();
  readonly #counted: CountedCharge[] = [];

  /** `knownAt` is when the charges become known. */
  constructor(run: RatingRun, knownAt: Date) {
    this.#run = run;
    this.#knownAt = knownAt;
  }

  /** Whether the charges that were made have reached the maximum of one transaction. */
  get isFull(): boolean {
    return this.#transactions.length + this.#rows >= chargeRowsMax;
  }

  /** Adds an event that is stored in the database. */
  addStored(event: UsageEvent): void {
    const row: UsageEventRow = {
      ...event,
      offset: Number(event.offset),
      eventAt: event.eventAt?.toISOString() ?? null,
    };
    this.#before.set(row.id, row);
    if (row.externalTransactionId === null) return;
    const { text, sent } = event;
    this.#originals.set(row.externalTransactionId, {
      row,
      text,
      content: comparable(() => messageOf(event).content),
      sent: sent === null ? null : comparable(() => readMessage(sent).content),
      isStored: true,
    });
  }

  /** Rates an event that was stored as rejected again, at its offset. */
  retry(event: UsageEvent, message: ReadMessage, outcome: Outcome): void {
    this.addStored(event);
    const row = this.#before.get(event.id);
    if (row === undefined) return;
    const retried = this.#outcomeRow(row, message, outcome);
    this.#updated.set(row.id, { ...retried, message: row.message });
  }

  /**
   * Classifies a message: the first one of an external id is rated. One whose original was rejected
   * is rated in the original's place (spec/rating.md R57). Any other is a duplicate, or conflicts
   * with its original. `rate` is called for messages that are rated.
   */
  add(place: Place, message: ReadMessage, rate: () => Outcome): void {
    const externalId = message.externalTransactionId;
    const original = externalId === null ? undefined : this.#originals.get(externalId);
    if (!original) {
      const row = this.#outcomeRow(place, message, rate());
      this.#inserted.push(row);
      const content = comparable(() => message.content);
      const { text } = place;
      if (externalId !== null)
        this.#originals.set(externalId, { row, text, content, sent: null, isStored: false });
    } else if (original.row.status === 'rejected') {
      this.#repair(original, place, message, rate());
    } else {
      this.#repeat(original, place, message);
    }
  }

  /** The original's row takes over the new message and its offset; a new row keeps the old ones. */
  #repair(original: Original, place: Place, message: ReadMessage, outcome: Outcome): void {
    const old = original.row;
    this.#push({ ...old, id: place.id }, 'duplicate', old.id);
    const row = this.#outcomeRow({ ...place, id: old.id }, message, outcome);
    if (original.isStored) this.#updated.set(row.id, row);
    else this.#inserted[this.#inserted.indexOf(old)] = row;
    original.row = row;
    original.text = place.text;
    original.content = comparable(() => message.content);
  }

  #repeat(original: Original, place: Place, message: ReadMessage): void {
    const base = { ...blank, ...place, ...fieldsOf(message) };
    if (isRepeatOf(original, place.text, message)) this.#push(base, 'duplicate', original.row.id);
    else {
      this.#push(
        {
          ...base,
          code: 'DUPLICATE_CONFLICT',
          reason: 'An event with this externalTransactionId and other content was rated already',
        },
        'rejected',
        original.row.id,
      );
    }
  }

  #push(
    base: Omit<UsageEventRow, 'workflowId' | 'runId' | 'processedAt' | 'status' | 'originalId'>,
    status: UsageEventRow['status'],
    originalId: string,
  ): void {
    const cleared = status === 'duplicate' ? { code: null, reason: null } : {};
    this.#inserted.push({ ...base, ...cleared, ...this.#stamp(), status, originalId });
  }

  #stamp() {
    const { runId, at: processedAt } = this.#run;
    return { workflowId: null, runId, processedAt };
  }

  #outcomeRow(place: Omit<Place, 'text'>, message: ReadMessage, outcome: Outcome): UsageEventRow {
    const { id, partition, offset, orgId, receivedAt } = place;
    const { accountId, status } = outcome;
    const isRejected = outcome.status === 'rejected';
    // Written out, because this is done for every event: spread objects cost ten times as much.
    const row: UsageEventRow = {
      id,
      partition,
      offset,
      orgId,
      receivedAt,
      message: null,
      externalTransactionId: message.externalTransactionId,
      serviceId: message.serviceId,
      eventAt: message.eventAt,
      accountId,
      status,
      originalId: null,
      code: isRejected ? outcome.code : null,
      reason: isRejected ? storable(outcome.reason) : null,
      workflowId: null,
      runId: this.#run.runId,
      processedAt: this.#run.at,
    };
    if (outcome.status === 'rated') this.#uncharged.push({ row, outcome });
    return row;
  }

  /** Makes the charges of what was added since; in portions, for an event may have a thousand of them. */
  async charge(portions: Portions): Promise<void> {
    for (const { row, outcome } of this.#uncharged.splice(0)) {
      const { prepared, rated } = outcome;
      this.#plans.add(prepared.plan);
      this.#totals.add({ prepared, rated });
      const place = { eventId: row.id, correctionId: null, ratedAt: this.#knownAt };
      for (const [index, charge] of rated.transactions.entries()) {
        const stored = chargeRow({ ...place, number: index + 1 }, prepared, charge);
        this.#transactions.push(stored);
        this.#counted.push(countedCharge(stored, charge.dimensions));
        this.#rows += charge.dimensions.length;
        if (portions.isOver) await portions.rest();
      }
      const known = this.#charges.get(row.partition) ?? 0;
      this.#charges.set(row.partition, known + rated.transactions.length);
    }
    if (portions.isOver) await portions.rest();
  }

  /** The changes of this batch to the tallies, by partition. */
  tallies(): Map<number, TallyChange> {
    const changes = new Map<number, TallyChange>();
    const of = (partition: number): TallyChange => {
      const change = changes.get(partition) ?? noChange();
      changes.set(partition, change);
      return change;
    };
    for (const { partition, status } of this.#inserted) of(partition)[status] += 1;
    for (const row of this.#updated.values()) {
      const before = this.#before.get(row.id);
      if (before) of(before.partition)[before.status] -= 1;
      of(row.partition)[row.status] += 1;
    }
    for (const [partition, count] of this.#charges) of(partition).transactions += count;
    return changes;
  }

  /** The number of messages by outcome: the row of a repaired event counts for its new message. */
  counts(): UsageCounts {
    const counts: UsageCounts = { rated: 0, duplicate: 0, rejected: 0 };
    for (const { status } of [...this.#inserted, ...this.#updated.values()]) {
      // Nothing of a batch is canceled.
      if (status !== 'canceled') counts[status] += 1;
    }
    for (const id of this.#updated.keys()) if (this.#before.has(id)) counts.duplicate -= 1;
    return counts;
  }

  /** The same, with the reasons of the rejected ones. */
  ends(): UsageEnds {
    const rejected = new Map<string, number>();
    for (const { status, code } of [...this.#inserted, ...this.#updated.values()]) {
      if (status !== 'rejected' || code === null) continue;
      rejected.set(code, (rejected.get(code) ?? 0) + 1);
    }
    const { rated, duplicate } = this.counts();
    return { rated, duplicate, rejected };
  }

  /** The number of retried events by outcome. */
  retryCounts(): { rated: number; rejected: number } {
    const statuses = [...this.#updated.values()].map(({ status }) => status);
    const rated = statuses.filter((status) => status === 'rated').length;
    return { rated, rejected: statuses.length - rated };
  }

  /**
   * Lets grants pay what they can of the charges (spec/beyond.md R265), and says what alerts they trigger
   * (R276). The last step of a transaction: it locks wallets and figures until the commit.
   */
  async settle(trx: Knex.Transaction, scope: Scope): Promise<void> {
    await payCharges(trx, scope, this.#transactions);
    await countCharges(trx, scope, this.#counted);
  }

  /** The statements that write events, their charges and counters, and those after them. */
  *#writing(
    trx: Knex.Transaction,
    tenantId: string,
    counters: MovedCounter[],
    after: readonly BulkStatement[],
  ): Iterable<BulkStatement | null> {
    // Updates first: they free the offsets that rows of repaired events take over.
    yield UsageEvent.updating(tenantId, [...this.#updated.values()]);
    yield* UsageEvent.inserting(tenantId, this.#inserted);
    yield UsageEvent.namingRun(tenantId, this.#run);
    yield* StoredRatingPlan.insertingMissing(trx, tenantId, this.#plans);
    yield* RatedTransaction.inserting(tenantId, this.#transactions);
    const charged = new Set(this.#transactions.map(({ externalTranId }) => externalTranId));
    yield* searchedIds(tenantId, charged);
    yield* UsageCounter.writing(tenantId, counters);
    yield* this.#totals.writing(trx, tenantId);
    yield* after;
  }

  /**
   * Writes events, charges and counters, then what `after` does in the same round trip, and records webhook
   * events; their charges were made before.
   */
  async write(
    trx: Knex.Transaction,
    scope: WebhookOrigin,
    counters: MovedCounter[],
    after: readonly BulkStatement[] = [],
  ): Promise<void> {
    if (this.#uncharged.length > 0) throw new Error('Charges of this batch were not made.');
    const { tenantId } = scope;
    // Which webhooks there are is asked for in the same round trip, for `recordUsageOutcomes`.
    await Promise.all([
      wantedKinds(trx, tenantId),
      writeTogether(trx, this.#writing(trx, tenantId, counters, after)),
    ]);
    const written = [...this.#updated.values(), ...this.#inserted];
    const idsOf = (wanted: UsageEventRow['status']) =>
      written.filter(({ status }) => status === wanted).map(({ id }) => id);
    await recordUsageOutcomes(trx, scope, {
      rated: idsOf('rated'),
      rejected: idsOf('rejected'),
      transactions: this.#transactions.map(({ id }) => id),
    });
  }
}

const blank = { code: null, reason: null, message: null };

function fieldsOf(message: ReadMessage) {
  const { externalTransactionId, serviceId, eventAt } = message;
  return { externalTransactionId, serviceId, eventAt };
}
