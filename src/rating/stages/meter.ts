import { ONE, ZERO, type Decimal } from '../../kernel/numbers/money.js';
import { aggregate } from './aggregate.js';
import type { SelectedRow } from '../prepare-event.js';
import type { Spending } from '../operation-budget.js';
import { Rejection } from '../rejection.js';
import type { Aggregation, CountedValue, CounterChange, CounterReader } from '../types.js';

/** Values that one UNIQUE counter counts: each of them is a row for as long as the books are kept. */
export const countedValuesMax = 10_000_000;

/**
 * The stage `meter`: the counters as one price sees them. Each priced quantity moves them for the next.
 */
export class Meter {
  readonly spending: Spending;
  readonly #start: CounterReader;
  readonly #moved = new Map<string, CounterChange>();

  constructor(start: CounterReader, spending: Spending) {
    this.spending = spending;
    this.#start = start;
  }

  /** Takes up a quantity, and returns the counter's values before and after. */
  move(
    counter: NonNullable<SelectedRow['counter']>,
    quantity: Decimal,
    aggregation: Aggregation,
  ): CounterChange {
    const { key, text: keyText } = counter;
    const moved = this.#moved.get(keyText);
    const before = moved?.after ?? this.#start.get(keyText) ?? ZERO;
    const value = counter.valueId === undefined ? undefined : this.#count(counter, before);
    const counted = value?.isNew === true ? ONE : ZERO;
    const after = aggregate(aggregation, before, value ? counted : quantity);
    const change: CounterChange = { key, keyText, before, after };
    if (value === undefined) {
      this.#moved.set(keyText, moved ? { ...change, before: moved.before } : change);
      return change;
    }
    // What is asked for twice is counted once; the event was the first all the same.
    const ofEvent = moved?.value ?? value;
    this.#moved.set(keyText, { ...change, before: moved?.before ?? before, value: ofEvent });
    return { ...change, value };
  }

  /** An event has one value for a counter, whatever is asked how often. */
  #count(counter: NonNullable<SelectedRow['counter']>, before: Decimal): CountedValue {
    const { key, text, valueId: id = '' } = counter;
    if (this.#moved.has(text)) return { id, isNew: false };
    if (!this.#start.hasCounted) throw new Error('Who reads the counters knows nothing of values.');
    const isNew = !this.#start.hasCounted(text, id);
    if (isNew && before.greaterThanOrEqualTo(countedValuesMax)) {
      throw new Rejection(
        'INVALID_DIMENSION',
        `'${key.attributeName}' has counted ${countedValuesMax} values in this period; it counts no more`,
      );
    }
    return { id, isNew };
  }

  /** For each counter that moved: from before the event to now. */
  changes(): CounterChange[] {
    return [...this.#moved.values()];
  }
}

/**
 * Of several prices of the same usage: where the one that came furthest leaves each counter, up or down.
 * Of two that came as far the upper one counts: the order of prices means nothing.
 */
export function furthest(meters: readonly Meter[]): CounterChange[] {
  const changes = new Map<string, CounterChange>();
  for (const change of meters.flatMap((meter) => meter.changes())) {
    const known = changes.get(change.keyText);
    if (!known || isFurther(change, known)) changes.set(change.keyText, change);
  }
  return [...changes.values()];
}

function isFurther(one: CounterChange, other: CounterChange): boolean {
  const way = ({ before, after }: CounterChange): Decimal => after.minus(before).abs();
  const order = way(one).comparedTo(way(other));
  return order > 0 || (order === 0 && one.after.greaterThan(other.after));
}
