import type { Knex } from 'knex';
import { chargesMax } from '../../messages/usage-log.js';
import { Portions } from '../../kernel/portions.js';
import type { Decimal } from '../../kernel/numbers/money.js';
import {
  callOperationsMax,
  choosePlan,
  isCompiled,
  eventOperationsMax,
  prepareFromPlan,
  Spending,
  type CounterKey,
  type CounterReader,
  type Prepared,
  type Rated,
  type RatingContext,
  type Rejected,
  type RejectionCode,
  type UsageEvent,
  type UsageEventRead,
} from '../../rating/index.js';
import { StoredRatingPlan } from '../../models/usage/plans/rating-plan.js';
import { counterIdOf, UsageCounter, type CountedRow } from '../../models/usage/usage-counter.js';
import { loadRatingContexts } from './rating-context.js';

/**
 * The rejection codes of the specification, and one for faults of the product
 * (docs/decisions/0042).
 */
export type UsageRejectionCode = RejectionCode | 'DUPLICATE_CONFLICT' | 'INTERNAL_ERROR';

export interface RatedOutcome<R extends Rated = Rated> {
  readonly status: 'rated';
  readonly accountId: string;
  readonly prepared: Prepared;
  readonly rated: R;
}

export interface RejectedOutcome {
  readonly status: 'rejected';
  /** The account that the event names, if there is one. */
  readonly accountId: string | null;
  readonly code: UsageRejectionCode;
  readonly reason: string;
}

export type Outcome<R extends Rated = Rated> = RatedOutcome<R> | RejectedOutcome;

/** A changed counter: its new value, and whether it has a row in the database. */
export interface MovedCounter {
  readonly key: CounterKey;
  readonly value: Decimal;
  readonly isNew: boolean;
  /** The values that a UNIQUE counter has counted. */
  readonly counted: readonly string[];
}

interface RaterOptions {
  /** Reads counters, or locks them where they are going to be written. */
  readonly readCounters: (keys: readonly string[]) => Promise<Map<string, Decimal>>;
  /** Called with errors that are faults of the product, not rejections. */
  readonly onFault: (error: unknown, event: UsageEvent) => void;
  /** What was prepared of the events before. */
  readonly ahead?: PreparedAhead | undefined;
}

/** An event that is priced by facts: with what, or why it is rejected, and the operations that this took. */
interface Planned {
  readonly context: RatingContext;
  readonly result: Prepared | Rejected;
  readonly spent: number;
}

/**
 * Events that were prepared before the transaction that rates them. What became of one holds for the facts
 * that it was prepared with, which are the same objects as long as their records have the same versions.
 */
export type PreparedAhead = WeakMap<UsageEvent, Planned>;

const isSameFacts = (a: RatingContext, b: RatingContext): boolean =>
  a.account === b.account &&
  a.service === b.service &&
  a.lines === b.lines &&
  a.adjustments === b.adjustments;

/** Undefined: the plan has to be compiled first. Plans are cached, so that few have. */
function planEvent(event: UsageEvent, context: RatingContext): Planned | undefined {
  const planned = choosePlan(event, context);
  if (planned.ok && !isCompiled(planned.plan)) return undefined;
  const spending = new Spending(eventOperationsMax);
  const result = planned.ok
    ? prepareFromPlan(planned.plan, event, planned.owner, spending)
    : planned;
  return { context, result, spent: spending.spent };
}

/** Prepares events as far as that is done at once, while those before them are rated. */
export async function prepareAhead(
  db: Knex,
  tenantId: string,
  events: readonly UsageEvent[],
): Promise<PreparedAhead> {
  const ahead: PreparedAhead = new WeakMap();
  // What is too large for the cache would be held beside what the present batch has loaded.
  const contextOf = await loadRatingContexts(db, tenantId, events, 0);
  const portions = new Portions();
  let operations = 0;
  for (const event of events) {
    if (portions.isOver) await portions.rest();
    if (operations >= callOperationsMax / 2) break;
    const context = contextOf(event);
    if (!context) continue;
    // A fault of the product comes again where it is told.
    const planned = orNothing(() => planEvent(event, context));
    if (!planned) continue;
    operations += planned.spent;
    ahead.set(event, planned);
  }
  return ahead;
}

function orNothing<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/**
 * Rates the events of a batch in order: each starts from the counters that the previous one left.
 * Their facts and counters are loaded beforehand, for all events at once. Together they may take
 * `callOperationsMax` operations: call `takes` before each event, and leave refused ones to another
 * batch (docs/decisions/0185-what-a-formula-may-cost.md).
 */
export class UsageRater<R extends Rated = Rated> {
  readonly #engine: (prepared: Prepared, counters: CounterReader) => R | Rejected;
  readonly #prepared = new Map<UsageEvent, Prepared | RejectedOutcome>();
  readonly #onFault: RaterOptions['onFault'];
  readonly #ahead: PreparedAhead | undefined;
  #stored: ReadonlyMap<string, Decimal> = new Map();
  #operations = 0;
  readonly #moved = new Map<string, { key: CounterKey; value: Decimal }>();
  /** Values that UNIQUE counters have counted: before, and by these events, those with their counters. */
  #known: ReadonlySet<string> = new Set();
  readonly #counted = new Map<string, string>();

  private constructor(
    engine: (prepared: Prepared, counters: CounterReader) => R | Rejected,
    { onFault, ahead }: Pick<RaterOptions, 'onFault' | 'ahead'>,
  ) {
    this.#engine = engine;
    this.#onFault = onFault;
    this.#ahead = ahead;
  }

  static async open<R extends Rated>(
    db: Knex,
    tenantId: string,
    events: readonly UsageEvent[],
    engine: (prepared: Prepared, counters: CounterReader) => R | Rejected,
    { readCounters, ...options }: RaterOptions,
  ): Promise<UsageRater<R>> {
    const rater = new UsageRater<R>(engine, options);
    const contextOf = await loadRatingContexts(db, tenantId, events);
    const keys = new Set<string>();
    const values = new Map<string, CountedRow>();
    const portions = new Portions();
    for (const event of events) {
      if (portions.isOver) await portions.rest();
      if (rater.#operations >= callOperationsMax / 2) break;
      const context = contextOf(event);
      if (!context) break;
      const prepared = rater.#prepare(event, context) ?? (await rater.#compile(event, context));
      if (!('compiled' in prepared)) continue;
      for (const { counter } of prepared.selected.values()) {
        if (!counter) continue;
        const { text, valueId } = counter;
        keys.add(text);
        if (valueId !== undefined) values.set(valueId, { counterId: counterIdOf(text), valueId });
      }
    }
    rater.#stored = await readCounters([...keys]);
    // After the counters: who holds them alone may change what they have counted.
    rater.#known = await UsageCounter.readCounted(db, tenantId, [...values.values()]);
    return rater;
  }

  /** Compiles the plan of an event, in portions, since that may take long, and prepares it. */
  async #compile(event: UsageEvent, context: RatingContext): Promise<Prepared | RejectedOutcome> {
    let prepared: Prepared | RejectedOutcome | undefined;
    try {
      const planned = choosePlan(event, context);
      if (planned.ok) await StoredRatingPlan.prepare(planned.plan);
      prepared = this.#prepare(event, context);
      if (!prepared) throw new Error('The plan is not compiled.');
    } catch (error) {
      prepared = this.#fault(error, event, context.account?.id ?? null);
      this.#prepared.set(event, prepared);
    }
    return prepared;
  }

  #prepare(event: UsageEvent, context: RatingContext): Prepared | RejectedOutcome | undefined {
    const accountId = context.account?.id ?? null;
    let prepared: Prepared | RejectedOutcome;
    try {
      const planned = this.#takeAhead(event, context) ?? planEvent(event, context);
      if (!planned) return undefined;
      const { result, spent } = planned;
      this.#operations += spent;
      prepared = result.ok ? result : rejectedOutcome(result, accountId);
    } catch (error) {
      prepared = this.#fault(error, event, accountId);
    }
    this.#prepared.set(event, prepared);
    return prepared;
  }

  /** What was prepared of an event, once: rating counts its operations in it. */
  #takeAhead(event: UsageEvent, context: RatingContext): Planned | undefined {
    const planned = this.#ahead?.get(event);
    this.#ahead?.delete(event);
    return planned && isSameFacts(planned.context, context) ? planned : undefined;
  }

  /** Rates an event that was passed to `open`. */
  rate(read: UsageEventRead): Outcome<R> {
    if (!read.ok) return rejectedOutcome(read, null);
    const { event } = read;
    const prepared = this.#prepared.get(event);
    if (!prepared) throw new Error('The event was not given to the rater.');
    if (!('compiled' in prepared)) return prepared;
    const { accountId } = prepared.owner;
    try {
      const rated = this.#engine(prepared, this);
      this.#operations += prepared.cost.operations - prepared.cost.preparing;
      if (!rated.ok) return rejectedOutcome(rated, accountId);
      if (rated.transactions.length > chargesMax) throw new Error('An event has too many charges.');
      for (const { key, keyText, after, value } of rated.counterChanges) {
        this.#moved.set(keyText, { key, value: after });
        if (value?.isNew === true) this.#counted.set(value.id, keyText);
      }
      return { status: 'rated', accountId, prepared, rated };
    } catch (error) {
      return this.#fault(error, event, accountId);
    }
  }

  /** The account that an event names, if there is one; of an event that was passed to `open`. */
  accountOf(read: UsageEventRead): string | null {
    const prepared = read.ok ? this.#prepared.get(read.event) : undefined;
    if (prepared === undefined) return null;
    return 'compiled' in prepared ? prepared.owner.accountId : prepared.accountId;
  }

  /** Whether the next event is within the operations of one call; the first always is. */
  takes(read: UsageEventRead): boolean {
    if (!read.ok) return true;
    return this.#operations < callOperationsMax && this.#prepared.has(read.event);
  }

  /** The value of a counter after the events rated so far. */
  get(key: string): Decimal | undefined {
    return this.#moved.get(key)?.value ?? this.#stored.get(key);
  }

  hasCounted(_key: string, value: string): boolean {
    return this.#counted.has(value) || this.#known.has(value);
  }

  /** The changed counters. */
  movedCounters(): MovedCounter[] {
    const counted = new Map<string, string[]>();
    for (const [value, text] of this.#counted) {
      const known = counted.get(text);
      if (known) known.push(value);
      else counted.set(text, [value]);
    }
    return [...this.#moved].map(([text, { key, value }]) => ({
      key,
      value,
      isNew: !this.#stored.has(text),
      counted: counted.get(text) ?? [],
    }));
  }

  #fault(error: unknown, event: UsageEvent, accountId: string | null): RejectedOutcome {
    this.#onFault(error, event);
    return {
      status: 'rejected',
      accountId,
      code: 'INTERNAL_ERROR',
      reason: 'Rating this event failed because of an error on our side; it can be retried.',
    };
  }
}

function rejectedOutcome({ code, message }: Rejected, accountId: string | null): RejectedOutcome {
  return { status: 'rejected', accountId, code, reason: message };
}
