import { ZERO, type Decimal } from '../../kernel/numbers/money.js';
import { aggregate } from './aggregate.js';
import type { SelectedRow } from '../prepare.js';
import type { Spending } from '../operation-budget.js';
import type { Aggregation, CounterChange, CounterReader } from '../types.js';

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
    const after = aggregate(aggregation, before, quantity);
    this.#moved.set(keyText, { key, keyText, before: moved?.before ?? before, after });
    return { key, keyText, before, after };
  }

  /** For each counter that moved: from before the event to now. */
  changes(): CounterChange[] {
    return [...this.#moved.values()];
  }
}

/** Of several prices of the same usage: where the one that came furthest leaves each counter. */
export function furthest(meters: readonly Meter[]): CounterChange[] {
  const changes = new Map<string, CounterChange>();
  for (const change of meters.flatMap((meter) => meter.changes())) {
    const known = changes.get(change.keyText);
    if (!known || change.after.greaterThan(known.after)) changes.set(change.keyText, change);
  }
  return [...changes.values()];
}
