import type { Knex } from 'knex';
import type { Scope } from '../../../kernel/scope.js';
import { writeTogether } from '../../../models/db/bulk-table.js';
import { queueLateCorrections, readClosedDays } from '../../../models/billing/late-corrections.js';
import {
  insertReversals,
  UsageCorrection,
} from '../../../models/usage/corrections/usage-correction.js';
import { writePlaces, type ChargePlace } from '../../../models/usage/corrections/charge-place.js';
import { RatedTransaction } from '../../../models/usage/rated-transaction.js';
import { StoredRatingPlan } from '../../../models/usage/plans/rating-plan.js';
import { noChange, UsageConsumer, type TallyChange } from '../../../models/usage/log-offset.js';
import { UsageCounter } from '../../../models/usage/usage-counter.js';
import { UsageDay } from '../../../models/usage/usage-day.js';
import type { MeteredCounter } from '../../../models/usage/corrections/metered-counter.js';
import type { CountedChange } from '../../../queries/usage/recorded-moves.js';
import type {
  ChangeSink,
  MovedCounters,
  RatedAgain,
} from '../../../queries/usage/corrections/rerating/rerate-request.js';
import type { RatingPlan } from '../../../rating/index.js';
import { countCharges } from '../../balances/trigger-alerts.js';
import { Additions, CorrectionFigures } from './correction-additions.js';
import { recordCorrectedEvents } from './correction-webhook-event.js';
import { settleAll, settleWritten } from './settle-correction.js';

/** Changes that are held in memory; with more, what is there is written before it becomes known. */
const heldMax = 2_000;
/** The same of charges that stay and whose counters have moved. */
const placesMax = 20_000;
/** So few changes are written at the end: others wait for them no longer than for any rating. */
const fewChanges = 200;
/** Where the other pairs begin where an event has its own before them: it has fewer. */
const positionAfterOwn = 20_000;

/** How the tallies of partitions change, beside the number of charges. */
type StatusChanges = ReadonlyMap<number, Partial<TallyChange>>;

/** Stores plans in a transaction of their own. */
export type StorePlans = (plans: ReadonlySet<RatingPlan>) => Promise<void>;

interface Correction {
  readonly id: string;
  readonly reason: string;
  /** The event that is canceled or amended: it is written last, when all is known of it. */
  readonly ownEventId: string | null;
  readonly storePlans: StorePlans;
}

/**
 * Writes reversals and new charges while they are computed, so that memory does not grow with them;
 * nobody sees them before the commit, and nobody waits for them: what others would wait for is written
 * by `finish`, under the locks of partitions and counters (docs/decisions/0385).
 */
export class CorrectionWriter implements ChangeSink {
  readonly #trx: Knex.Transaction;
  readonly #scope: Scope;
  readonly #correction: Correction;
  /** What holds, and what of it is not written yet. */
  #kept = new CorrectionFigures();
  #unwritten: RatedAgain[] = [];
  #places: ChargePlace[] = [];
  #own: RatedAgain | null = null;
  /** The same of the pass that is under way. */
  #pass = new CorrectionFigures();
  #unwrittenOfPass: RatedAgain[] = [];
  #placesOfPass: ChargePlace[] = [];
  #ownOfPass: RatedAgain | null = null;
  #hasSavepoint = false;
  #isEarly = false;
  #position: number;
  readonly #closed = new Map<string, string | null>();

  constructor(trx: Knex.Transaction, scope: Scope, correction: Correction) {
    this.#trx = trx;
    this.#scope = scope;
    this.#correction = correction;
    this.#position = this.#firstPosition;
  }

  get #firstPosition(): number {
    return this.#correction.ownEventId === null ? 0 : positionAfterOwn;
  }

  /** What all of it comes to; after `finish`. */
  get figures(): CorrectionFigures {
    return this.#kept;
  }

  /** The partitions of the events that change. */
  get partitions(): readonly number[] {
    const unwritten = this.#unwritten.map(({ event }) => event.partition);
    const own = this.#own ? [this.#own.event.partition] : [];
    return [...new Set([...this.#kept.charges.keys(), ...unwritten, ...own])];
  }

  async add(change: RatedAgain): Promise<void> {
    if (change.event.id === this.#correction.ownEventId) {
      this.#ownOfPass = change;
      return;
    }
    this.#unwrittenOfPass.push(change);
    if (this.#unwritten.length + this.#unwrittenOfPass.length >= heldMax) await this.#writeEarly();
  }

  async place(places: readonly ChargePlace[]): Promise<void> {
    this.#placesOfPass.push(...places);
    if (this.#places.length + this.#placesOfPass.length >= placesMax) await this.#writeEarly();
  }

  async discard(): Promise<void> {
    if (this.#hasSavepoint) await this.#trx.raw('rollback to savepoint pass_of_correction');
    this.#pass = new CorrectionFigures();
    this.#unwrittenOfPass = [];
    this.#placesOfPass = [];
    this.#ownOfPass = null;
  }

  async keep(): Promise<void> {
    if (this.#hasSavepoint) await this.#trx.raw('release savepoint pass_of_correction');
    this.#hasSavepoint = false;
    this.#kept.addAll(this.#pass);
    this.#pass = new CorrectionFigures();
    this.#unwritten.push(...this.#unwrittenOfPass);
    this.#unwrittenOfPass = [];
    this.#places.push(...this.#placesOfPass);
    this.#placesOfPass = [];
    const own = this.#ownOfPass;
    // It goes from one account or service and comes to another.
    if (own) this.#own = this.#own ? { ...this.#own, outcome: own.outcome } : own;
    this.#ownOfPass = null;
  }

  /** Where `restart` goes back to. */
  async begin(): Promise<void> {
    await this.#trx.raw('savepoint correction');
  }

  /** Nothing of it holds: all is computed anew, and what was locked meanwhile is let go. */
  async restart(): Promise<void> {
    await this.#trx.raw('rollback to savepoint correction');
    this.#isEarly = false;
    this.#hasSavepoint = false;
    await this.discard();
    this.#kept = new CorrectionFigures();
    this.#unwritten = [];
    this.#places = [];
    this.#own = null;
    this.#position = this.#firstPosition;
    this.#closed.clear();
  }

  /** Writes what holds so far, so that little is left to `finish`. */
  async flush(): Promise<void> {
    const changes = this.#unwritten.length + this.#unwrittenOfPass.length;
    const places = this.#places.length + this.#placesOfPass.length;
    if (this.#isEarly || changes + places > fewChanges) await this.#writeEarly();
  }

  async #writeEarly(): Promise<void> {
    if (!this.#isEarly) {
      await this.#trx.raw(`select set_config('app.correcting', 'on', true)`);
      this.#isEarly = true;
    }
    const [kept, ofPass] = [this.#unwritten, this.#unwrittenOfPass];
    const [places, placesOfPass] = [this.#places, this.#placesOfPass];
    [this.#unwritten, this.#unwrittenOfPass] = [[], []];
    [this.#places, this.#placesOfPass] = [[], []];
    await this.#write(kept, this.#kept);
    await this.#writePlaces(places);
    if (!this.#hasSavepoint) await this.#trx.raw('savepoint pass_of_correction');
    this.#hasSavepoint = true;
    await this.#write(ofPass, this.#pass);
    await this.#writePlaces(placesOfPass);
  }

  #writePlaces(places: readonly ChargePlace[]): Promise<void> {
    return writePlaces(this.#trx, this.#scope.tenantId, this.#correction.id, places);
  }

  async #write(
    changes: readonly RatedAgain[],
    figures: CorrectionFigures,
    position = this.#position,
  ): Promise<Additions> {
    const { id, reason, ownEventId, storePlans } = this.#correction;
    const { tenantId } = this.#scope;
    const trx = this.#trx;
    const added = new Additions(id, this.#scope.realNow(), position);
    for (const change of changes) added.add(change);
    if (changes.length === 0) return added;
    if (position === this.#position) this.#position += added.pairs.length;
    if (this.#isEarly) {
      await this.#lookForClosedDays(changes);
      await storePlans(added.plans);
    } else await StoredRatingPlan.insertMissing(trx, tenantId, added.plans);
    await insertReversals(trx, tenantId, id, added.reversals);
    await RatedTransaction.insertMany(trx, tenantId, added.rows);
    await UsageCorrection.writePairs(trx, tenantId, id, added.pairs);
    await recordCorrectedEvents(trx, this.#scope, {
      correctionId: id,
      reason,
      canceled: [],
      // That of the event itself follows when its row is changed.
      corrected: changes.flatMap(({ event }) => (event.id === ownEventId ? [] : [event.id])),
    });
    figures.addAll(added.figures);
    return added;
  }

  async #lookForClosedDays(changes: readonly RatedAgain[]): Promise<void> {
    const billed = changes.flatMap(({ event, outcome }) => [
      ...event.charges.map(({ accountId }) => accountId),
      ...(outcome?.rated.transactions ?? []).map(({ billedAccountId }) => billedAccountId),
    ]);
    const unknown = [...new Set(billed)].filter((id) => !this.#closed.has(id));
    const found = await readClosedDays(this.#trx, this.#scope.tenantId, unknown);
    for (const id of unknown) this.#closed.set(id, found.get(id) ?? null);
  }

  /** What UNIQUE counters have counted follows them, whether or not there are more values than before. */
  async #writeCounted(counters: MovedCounters): Promise<void> {
    const changes = [...counters].map(([counterId, { counted }]) => ({ counterId, counted }));
    const rowsOf = (kind: keyof CountedChange) =>
      changes.flatMap(({ counterId, counted }) =>
        counted[kind].map((valueId) => ({ counterId, valueId })),
      );
    await UsageCounter.removeCounted(this.#trx, this.#scope.tenantId, rowsOf('removed'));
    await UsageCounter.addCounted(this.#trx, this.#scope.tenantId, rowsOf('added'));
  }

  /**
   * Writes what is left, with the counters and totals that follow. The counters, as they are `stored`,
   * and the partitions of the events are locked.
   */
  async finish(
    counters: MovedCounters,
    stored: ReadonlyMap<string, MeteredCounter>,
    statuses: StatusChanges,
  ): Promise<void> {
    const { tenantId } = this.#scope;
    const trx = this.#trx;
    await this.keep();
    const own = this.#own ? await this.#write([this.#own], this.#kept, 0) : null;
    const added = await this.#write(this.#unwritten, this.#kept);
    await this.#writePlaces(this.#places);
    [this.#unwritten, this.#places] = [[], []];
    const figures = this.#kept;
    const moved = [...counters].flatMap(([id, { counter, value }]) => {
      const now = stored.get(id)?.stored ?? null;
      return now?.equals(value) === true ? [] : [{ key: counter.key, value, isNew: now === null }];
    });
    await writeTogether(trx, UsageCounter.writing(tenantId, moved));
    await this.#writeCounted(counters);
    await figures.totals.write(trx, tenantId);
    const partitions = new Set([...figures.charges.keys(), ...statuses.keys()]);
    for (const partition of [...partitions].sort((a, b) => a - b)) {
      const transactions = figures.charges.get(partition) ?? 0;
      const change = { ...noChange(), ...statuses.get(partition), transactions };
      await UsageConsumer.advance(trx, tenantId, partition, change);
    }
    if (this.#isEarly) {
      await UsageDay.addCharges(trx, tenantId, figures.days);
      await queueLateCorrections(trx, tenantId, this.#correction.id, this.#closed);
      await settleWritten(trx, this.#scope, this.#correction.id);
    } else {
      const all = [...(own ? [own] : []), added];
      await settleAll(
        trx,
        this.#scope,
        all.flatMap(({ reversals }) => reversals),
        all.flatMap(({ rows }) => rows),
      );
    }
    await countCharges(trx, this.#scope, figures.counted);
  }
}
