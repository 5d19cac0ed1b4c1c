import type { Knex } from 'knex';
import { compareDecimals, ZERO, type Decimal } from '../../../../kernel/numbers/money.js';
import { inPortions, Portions } from '../../../../kernel/portions.js';
import { countFitting, pageBytesMax } from '../../../../models/usage/event-message.js';
import { counterIdOf } from '../../../../models/usage/usage-counter.js';
import {
  chargedFacts,
  compileInPieces,
  eventOperationsMax,
  prepareFromPlan,
  ratePrepared,
  Spending,
  type CounterReader,
  type Prepared,
  type Rated,
} from '../../../../rating/index.js';
import { CorrectedSums } from '../corrected-sums.js';
import type { PlacedEvent } from '../meter-members.js';
import type { ChargePlace } from '../../../../models/usage/corrections/charge-place.js';
import {
  counterOfKey,
  readCounters,
  type MeteredCounter,
} from '../../../../models/usage/corrections/metered-counter.js';
import {
  CountedValues,
  recordedMoves,
  wasCounted,
  type RecordedMove,
} from '../../recorded-moves.js';
import {
  readRecordedEvents,
  RecordedReader,
  type RecordedEvent,
  type RecordedFacts,
} from '../recorded-event.js';
import { chargeText, readQuickly, type QuickEvent, type QuickPage } from './quick-page.js';
import {
  messageGone,
  type ChangeSink,
  type Fate,
  type KeptReason,
  type MovedCounters,
  type RatedAgain,
  type Rerated,
  type RerateRequest,
} from './rerate-request.js';
import { isSameCharge } from '../same-charges.js';

/** A page of a pass: as far as it takes to see that nothing becomes of it, or the whole of it. */
type ReadPage = { readonly placed: readonly PlacedEvent[] } & (
  | { readonly quick: QuickPage; readonly whole: null }
  | { readonly quick: null; readonly whole: WholePage }
);

/** The first events of a page, as many as may be held, and what becomes of those that are targets. */
interface WholePage {
  readonly count: number;
  readonly events: readonly RecordedEvent[];
  readonly fates: ReadonlyMap<string, Fate>;
}

const noMoves: ReadonlyMap<string, RecordedMove> = new Map();
const noFates: ReadonlyMap<string, Fate> = new Map();

/** One pass over events in their order, with the counters that are known to move. */
export class Pass {
  /** Counters that move and are not followed in this pass. */
  readonly found = new Map<string, MeteredCounter>();
  readonly #db: Knex;
  readonly #tenantId: string;
  #request: RerateRequest;
  #targets: ReadonlySet<string>;
  readonly counters: ReadonlyMap<string, MeteredCounter>;
  readonly #values = new Map<string, Decimal>();
  readonly #counted = new CountedValues();
  readonly #reader: RecordedReader;
  readonly #sink: ChangeSink;
  /** The counters that are followed alone. */
  readonly #followedCounters = this.#countersOf(noMoves);
  #isQuick = true;
  readonly #kept = new Map<string, number>();
  readonly #sums = new CorrectedSums();
  #refused: KeptReason | null = null;
  #changed = 0;
  #rated = 0;

  constructor(
    db: Knex,
    tenantId: string,
    request: RerateRequest,
    counters: ReadonlyMap<string, MeteredCounter>,
    sink: ChangeSink,
  ) {
    this.#db = db;
    this.#tenantId = tenantId;
    this.#request = request;
    this.#targets = new Set(request.targets.map(({ id }) => id));
    this.counters = counters;
    this.#sink = sink;
    this.#reader = new RecordedReader(db, tenantId);
  }

  /** What is rated from here on follows the targets, of which there may be many. */
  forgetTargets(): void {
    this.#request = { ...this.#request, targets: [] };
    this.#targets = new Set();
  }

  /** Reads a page of events, which depends on nothing that was rated: it may be read ahead. */
  async read(placed: readonly PlacedEvent[]): Promise<ReadPage> {
    const { openPrepare } = this.#request;
    if (openPrepare && this.#isQuick && placed.every(({ id }) => this.#targets.has(id))) {
      const quick = await readQuickly(this.#db, this.#tenantId, placed, openPrepare);
      return { placed, quick, whole: null };
    }
    return { placed, quick: null, whole: await this.#readWhole(placed) };
  }

  async #readWhole(placed: readonly PlacedEvent[]): Promise<WholePage> {
    const all = placed.map(({ id }) => id);
    const count = all.some((id) => this.#targets.has(id))
      ? await countFitting(this.#db, this.#tenantId, all, pageBytesMax)
      : all.length;
    const ids = all.slice(0, count);
    const read = await readRecordedEvents(this.#db, this.#tenantId, ids);
    const events =
      this.#request.isMovedIn === true ? read.map((event) => this.#asNew(event)) : read;
    for (const event of events) this.#counted.record(recordedMoves(event));
    const targets = events.filter(({ id }) => this.#targets.has(id));
    const fates = targets.length === 0 ? noFates : await this.#request.fatesOf(targets);
    return { count, events, fates };
  }

  /** Rates a page of events; what was too much to be held with it is read now. */
  async rate(page: ReadPage): Promise<void> {
    let read = page;
    for (;;) {
      const { placed, quick, whole } = read;
      const done = quick ? await this.#rateQuickly(quick) : await this.#rateWhole(whole);
      if (done === placed.length) return;
      read = await this.read(placed.slice(done));
    }
  }

  /** Rates events until one comes to something else, or more of it has to be read; how many. */
  async #rateQuickly({ events, prepare }: QuickPage): Promise<number> {
    const portions = new Portions();
    for (const [index, event] of events.entries()) {
      const preparing = event && prepare(event.text);
      const prepared = preparing instanceof Promise ? await preparing : preparing;
      if (!event || !prepared || !this.#isAsItWas(prepared, event)) {
        // Where one event comes out different, those after it mostly do, too.
        this.#isQuick = false;
        return index;
      }
      if (portions.isOver) await portions.rest();
    }
    return events.length;
  }

  #isAsItWas(prepared: Prepared, { charge }: QuickEvent): boolean {
    for (const { counter } of prepared.selected.values()) {
      if (counter && !this.counters.has(counterIdOf(counter.text))) return false;
    }
    const rated = ratePrepared(prepared, this.#followedCounters);
    if (!rated.ok || chargeText(prepared, rated) !== charge) return false;
    this.#rated += 1;
    this.#move(rated, noMoves);
    this.#sums.addSame(rated);
    return true;
  }

  async #rateWhole({ count, events, fates }: WholePage): Promise<number> {
    const followed = events.filter((event) => !fates.has(event.id) && this.#isFollowed(event));
    // Whoever still begins where its counters are is not read again.
    let facts: ReadonlyMap<string, RecordedFacts> = new Map();
    const portions = new Portions();
    for (const event of events) {
      const fate = fates.get(event.id);
      if (fate) await this.#rateTarget(event, fate);
      else if (this.#isFollowed(event) && !this.#keepsPlace(event)) {
        if (!facts.has(event.id)) {
          const left = followed.slice(followed.indexOf(event));
          ({ facts } = await this.#reader.read(left));
        }
        await this.#rateFollowing(event, facts.get(event.id));
      }
      if (portions.isOver) await portions.rest();
    }
    return count;
  }

  #asNew(event: RecordedEvent): RecordedEvent {
    return this.#targets.has(event.id) ? { ...event, charges: [] } : event;
  }

  #isFollowed(event: RecordedEvent): boolean {
    return [...recordedMoves(event).keys()].some((id) => this.counters.has(id));
  }

  /** Whether an event begins where its counters are now; they move as they did. */
  #keepsPlace(event: RecordedEvent): boolean {
    const moves = [...recordedMoves(event)].filter(([id]) => this.counters.has(id));
    const isSame = moves.every(
      ([id, move]) =>
        move.before.equals(this.#values.get(id) ?? ZERO) && this.#counted.isAsRecorded(id, move),
    );
    if (isSame) this.#moveAsRecorded(recordedMoves(event));
    return isSame;
  }

  #moveAsRecorded(moves: ReadonlyMap<string, RecordedMove>): void {
    for (const [id, move] of moves) {
      if (!this.counters.has(id)) continue;
      this.#values.set(id, (this.#values.get(id) ?? ZERO).plus(move.volume));
      this.#counted.moveAsRecorded(id, move);
    }
  }

  async #rateTarget(event: RecordedEvent, fate: Fate): Promise<void> {
    this.#rated += 1;
    const moves = recordedMoves(event);
    if (fate.kind === 'kept') {
      this.#refuse(event, moves, fate);
      return;
    }
    for (const id of moves.keys()) await this.#follow(id);
    if (fate.kind === 'removed') {
      this.#sums.addBefore(event.charges);
      await this.#change({ event, isTarget: true, outcome: null });
      return;
    }
    const { prepared } = fate;
    for (const key of prepared.counterKeys) {
      const [id, counter] = counterOfKey(key);
      if (!this.counters.has(id)) this.found.set(id, counter);
    }
    // All of this is rated anew: only the counters are of interest.
    if (this.found.size > 0) return;
    const rated = ratePrepared(prepared, this.#countersOf(moves));
    if (!rated.ok) {
      this.#refuse(event, moves, rated);
      return;
    }
    const places = this.#placesOf(event, moves);
    this.#move(rated, moves);
    this.#sums.addBefore(event.charges);
    this.#sums.addRated(rated);
    const isSame = !this.#request.isForced && isSameCharge(event, prepared, rated, true);
    if (isSame) await this.#place(places);
    else
      await this.#change({
        event,
        isTarget: true,
        outcome: { prepared: chargedFacts(prepared), rated },
      });
  }

  /** Rates an event again whose counters have moved, with what it was rated with. */
  async #rateFollowing(event: RecordedEvent, facts: RecordedFacts | undefined): Promise<void> {
    const moves = recordedMoves(event);
    if (!facts?.event) return this.#keep(moves, messageGone);
    const { plan, line, event: read } = facts;
    await inPortions(compileInPieces(plan));
    const owner = { accountId: event.charges[0]?.masterAccountId ?? '', line };
    const spending = new Spending(eventOperationsMax);
    const prepared = prepareFromPlan(plan, read, owner, spending);
    if (!prepared.ok) return this.#keep(moves, prepared);
    const rated = ratePrepared(prepared, this.#countersOf(moves));
    if (!rated.ok) return this.#keep(moves, rated);
    const places = this.#placesOf(event, moves);
    this.#move(rated, moves);
    if (isSameCharge(event, prepared, rated, false)) return this.#place(places);
    await this.#change({
      event,
      isTarget: false,
      outcome: { prepared: chargedFacts(prepared), rated },
    });
  }

  /** Where the counters stand before an event, of those that have moved there. */
  #placesOf(
    { charges }: RecordedEvent,
    moves: ReadonlyMap<string, RecordedMove>,
  ): readonly ChargePlace[] {
    const places: ChargePlace[] = [];
    for (const [counterId, { before }] of moves) {
      const counterBefore = this.#values.get(counterId) ?? ZERO;
      if (!this.counters.has(counterId) || before.equals(counterBefore)) continue;
      for (const { id: chargeId, dimensions } of charges) {
        if (!dimensions.some((row) => row.counterId === counterId)) continue;
        places.push({ chargeId, counterId, counterBefore });
      }
    }
    return places;
  }

  async #place(places: readonly ChargePlace[]): Promise<void> {
    if (places.length > 0 && this.found.size === 0) await this.#sink.place(places);
  }

  #refuse(event: RecordedEvent, moves: ReadonlyMap<string, RecordedMove>, why: KeptReason): void {
    this.#keep(moves, why);
    this.#sums.addKept(event.charges);
    this.#refused ??= { code: why.code, message: why.message };
  }

  #keep(moves: ReadonlyMap<string, RecordedMove>, { code }: KeptReason): void {
    this.#moveAsRecorded(moves);
    this.#kept.set(code, (this.#kept.get(code) ?? 0) + 1);
  }

  async #change(change: RatedAgain): Promise<void> {
    this.#changed += 1;
    // With a counter that is not followed, all of this is rated anew.
    if (this.found.size === 0) await this.#sink.add(change);
  }

  /** Counters that are followed stand where the events so far have moved them. */
  #countersOf(moves: ReadonlyMap<string, RecordedMove>): CounterReader {
    return {
      hasCounted: (text, value) => {
        const id = counterIdOf(text);
        return this.counters.has(id)
          ? this.#counted.has(id, value)
          : wasCounted(moves.get(id), value);
      },
      get: (text) => {
        const id = counterIdOf(text);
        return this.counters.has(id) ? this.#values.get(id) : moves.get(id)?.before;
      },
    };
  }

  /** A counter that moves otherwise than it did has to be followed. */
  #move({ counterChanges }: Rated, moves: ReadonlyMap<string, RecordedMove>): void {
    for (const { key, keyText, before, after, value } of counterChanges) {
      const id = counterIdOf(keyText);
      if (this.counters.has(id)) {
        this.#values.set(id, after);
        if (value) this.#counted.count(id, value.id);
      } else if (compareDecimals(moves.get(id)?.volume ?? ZERO, after.minus(before)) !== 0) {
        this.found.set(id, counterOfKey(key)[1]);
      }
    }
  }

  async #follow(id: string): Promise<void> {
    if (this.counters.has(id) || this.found.has(id)) return;
    const [counter] = (await readCounters(this.#db, this.#tenantId, [id], false)).values();
    if (counter) this.found.set(id, counter);
  }

  get result(): Rerated {
    return {
      changed: this.#changed,
      kept: this.#kept,
      refused: this.#refused,
      targets: this.#rated,
      sums: this.#sums,
    };
  }

  get moved(): MovedCounters {
    return new Map(
      [...this.counters].map(([id, counter]) => [
        id,
        { counter, value: this.#values.get(id) ?? ZERO, counted: this.#counted.changeOf(id) },
      ]),
    );
  }
}
