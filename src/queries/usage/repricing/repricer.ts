import type { Knex } from 'knex';
import {
  choosePlan,
  eventOperationsMax,
  isCompiled,
  prepareFromPlan,
  ratePrepared,
  Spending,
  type Prepared,
  type Rated,
  type RatingContext,
  type RatingPlan,
  type UsageEvent,
  type UsageOwner,
} from '../../../rating/index.js';
import { recordedMoves } from '../recorded-moves.js';
import { StoredRatingPlan } from '../../../models/usage/plans/rating-plan.js';
import type { RatedPlace } from '../../../models/usage/repricing/rated-in-range.js';
import type { TriedCharge } from '../../../models/usage/repricing/tried-charge.js';
import { RecordedReader, sentEvent, type SentFacts } from '../corrections/recorded-event.js';
import { elsewhere, messageGone } from '../corrections/rerating/rerate-request.js';
import { loadRatingContexts } from '../rating-context.js';
import { ChangedFacts, type ChangedFact } from './changed-facts.js';
import type { CounterPlaces } from './counter-places.js';

/** A rated event with its charges that stand, as far as a what-if needs them. */
export interface TriedEvent extends RatedPlace {
  readonly charges: readonly TriedCharge[];
}

/**
 * What an event would come to; it stays as it is where no change is of it, or it cannot be rated: with the
 * operations that it took to find that out.
 */
export type Repriced =
  | { readonly kind: 'same' }
  | { readonly kind: 'kept'; readonly code: string; readonly operations: number }
  | { readonly kind: 'rated'; readonly prepared: Prepared; readonly rated: Rated };

/** Rates an event, with the counters as the events before it would leave them. */
export type RateEvent = (
  event: TriedEvent,
  counters: CounterPlaces,
) => Repriced | Promise<Repriced>;

type ContextOf = (event: UsageEvent) => RatingContext | undefined;

/** What prices an event, and who used it. */
interface Priced {
  readonly plan: RatingPlan;
  readonly owner: UsageOwner;
}

const same: Repriced = { kind: 'same' };
const kept = (code: string, operations: number): Repriced => ({ kind: 'kept', code, operations });

/**
 * Rates recorded events with changes laid over what is in force. What no change is of keeps the plan
 * that it was rated with, so that the outcome differs from the books by the changes and by nothing
 * else (docs/decisions/0376).
 */
export class Repricer {
  readonly #db: Knex;
  readonly #tenantId: string;
  readonly #facts: ChangedFacts;
  readonly #reader: RecordedReader;

  constructor(db: Knex, tenantId: string, changes: readonly ChangedFact[]) {
    this.#db = db;
    this.#tenantId = tenantId;
    this.#facts = new ChangedFacts(changes);
    this.#reader = new RecordedReader(db, tenantId);
  }

  /**
   * Reads what rating these events needs, of as many as may be held: `next` is the first one that was left
   * out. The function rates one of them after the other, at once unless something has to be compiled or
   * loaded first: millions of promises are a tenth of the time.
   */
  async open(
    events: readonly TriedEvent[],
  ): Promise<{ readonly rateEvent: RateEvent; readonly next: TriedEvent | undefined }> {
    const concerned = events.filter((event) => this.#concerns(event));
    const { facts, next } = await this.#reader.readSent(concerned);
    const contextOf = this.#facts.areOfPrices
      ? await loadRatingContexts(this.#db, this.#tenantId, eventsOf(facts.values()))
      : null;
    const rateEvent: RateEvent = (event, counters) => {
      const found = facts.get(event.id);
      return found ? this.#rate(event, found, contextOf, counters) : same;
    };
    return { rateEvent, next };
  }

  #concerns({ serviceId, charges }: TriedEvent): boolean {
    return this.#facts.concern(charges[0]?.masterAccountId ?? '', serviceId);
  }

  #rate(
    recorded: TriedEvent,
    { plan, line, text }: SentFacts,
    contextOf: ContextOf | null,
    counters: CounterPlaces,
  ): Repriced | Promise<Repriced> {
    const event = sentEvent(text);
    if (!event) return kept(messageGone.code, 0);
    const facts = { plan, line, event };
    if (contextOf === null) return this.#rateWith(recorded, facts, null, counters);
    const context = contextOf(event);
    if (context) return this.#rateWith(recorded, facts, context, counters);
    return loadRatingContexts(this.#db, this.#tenantId, [event]).then((contextOfOne) => {
      const one = contextOfOne(event);
      if (!one) throw new Error('The facts of one event are always loaded.');
      return this.#rateWith(recorded, facts, one, counters);
    });
  }

  /** `context` is what is in force, where cards or logics are changed. */
  #rateWith(
    recorded: TriedEvent,
    facts: Omit<SentFacts, 'text'> & { readonly event: UsageEvent },
    context: RatingContext | null,
    counters: CounterPlaces,
  ): Repriced | Promise<Repriced> {
    const accountId = recorded.charges[0]?.masterAccountId ?? '';
    const changed = context && this.#changedPlan(facts.event, context);
    if (changed && changed.owner.accountId !== accountId) return kept(elsewhere.code, 0);
    const asRecorded: Priced = { plan: facts.plan, owner: { accountId, line: facts.line } };
    const { plan: priced, owner } = changed ?? asRecorded;
    const plan = this.#facts.planOf(priced, owner, facts.event);
    const event = this.#facts.eventOf(facts.event, plan);
    const moves = recordedMoves(recorded);
    const isSame = plan === facts.plan && event === facts.event && counters.areKept(moves);
    if (isSame) return same;
    const rate = (): Repriced => rateFromPlan({ plan, owner }, event, counters, moves);
    return isCompiled(plan) ? rate() : StoredRatingPlan.prepare(plan).then(rate);
  }

  /** What prices an event where a change is of its card or logic; null: none is. */
  #changedPlan(event: UsageEvent, context: RatingContext): Priced | null {
    const changed = this.#facts.contextOf(context);
    if (changed === context) return null;
    const planned = choosePlan(event, changed);
    if (!planned.ok) return null;
    const { plan, owner } = planned;
    const present = choosePlan(event, context);
    const isSame =
      present.ok &&
      present.plan.card.rows === plan.card.rows &&
      present.plan.logics === plan.logics;
    return isSame ? null : { plan, owner };
  }
}

function* eventsOf(facts: Iterable<SentFacts>): Generator<UsageEvent> {
  for (const { text } of facts) {
    const event = sentEvent(text);
    if (event) yield event;
  }
}

function rateFromPlan(
  { plan, owner }: Priced,
  event: UsageEvent,
  counters: CounterPlaces,
  moves: ReturnType<typeof recordedMoves>,
): Repriced {
  const spending = new Spending(eventOperationsMax);
  const prepared = prepareFromPlan(plan, event, owner, spending);
  if (!prepared.ok) return kept(prepared.code, spending.spent);
  const { cost } = prepared;
  if (counters.isFullFor(prepared, moves)) return kept('INVALID_DIMENSION', cost.operations);
  const rated = ratePrepared(prepared, counters.before(moves));
  if (!rated.ok) return kept(rated.code, cost.operations);
  counters.move(moves, rated);
  return { kind: 'rated', prepared, rated };
}
