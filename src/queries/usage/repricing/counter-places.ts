import { Decimal, decimalText, ZERO } from '../../../kernel/numbers/money.js';
import { counterIdOf } from '../../../models/usage/usage-counter.js';
import type { CounterState } from '../../../models/usage/repricing/repricing.js';
import type { CounterReader, Prepared, Rated } from '../../../rating/index.js';
import { wasCounted, type RecordedMove } from '../recorded-moves.js';

/** Values that are held of counters that the books do not have. */
const countedMax = 100_000;

/**
 * Where the counters of an account would stand. An event finds each of them where the books had it,
 * moved by as much as the events before it would have moved it otherwise: of 800 and 800 calls with
 * half of them, the second one finds 400, since the first has moved the counter by 400 less.
 */
export class CounterPlaces {
  readonly #moved: Map<string, Decimal>;
  readonly #values: Map<string, Decimal>;
  readonly #counted: Map<string, Set<string>>;
  #countedOfAll = 0;

  constructor({ moved = {}, values = {}, counted = {} }: Partial<CounterState>) {
    const read = (of: Readonly<Record<string, string>>) =>
      new Map(Object.entries(of).map(([id, text]) => [id, new Decimal(text)]));
    this.#moved = read(moved);
    this.#values = read(values);
    this.#counted = new Map(Object.entries(counted).map(([id, of]) => [id, new Set(of)]));
    for (const of of this.#counted.values()) this.#countedOfAll += of.size;
  }

  /** Whether an event has a value for a counter that the books do not have, and too many are held. */
  isFullFor({ selected }: Prepared, moves: ReadonlyMap<string, RecordedMove>): boolean {
    return (
      this.#countedOfAll >= countedMax &&
      [...selected.values()].some(
        ({ counter }) => counter?.valueId !== undefined && !moves.has(counterIdOf(counter.text)),
      )
    );
  }

  /** Whether all counters of an event stand where the books had them. */
  areKept(moves: ReadonlyMap<string, RecordedMove>): boolean {
    for (const id of moves.keys()) if (this.#moved.has(id)) return false;
    return true;
  }

  /** The counters before an event. */
  before(moves: ReadonlyMap<string, RecordedMove>): CounterReader {
    return {
      get: (text) => {
        const id = counterIdOf(text);
        const recorded = moves.get(id);
        if (!recorded) return this.#values.get(id);
        return recorded.before.plus(this.#moved.get(id) ?? ZERO);
      },
      hasCounted: (text, value) => {
        const id = counterIdOf(text);
        return wasCounted(moves.get(id), value) || this.#counted.get(id)?.has(value) === true;
      },
    };
  }

  /** Moves them by an event. */
  move(moves: ReadonlyMap<string, RecordedMove>, rated: Rated): void {
    const left = new Map(moves);
    for (const { keyText, before, after, value } of rated.counterChanges) {
      const id = counterIdOf(keyText);
      if (value?.isNew === true && !moves.has(id)) this.#count(id, value.id);
      left.delete(id);
      this.#moveBy(id, after.minus(before).minus(moves.get(id)?.volume ?? ZERO));
      this.#values.set(id, after);
    }
    for (const [id, { before, volume }] of left) {
      this.#values.set(id, before.plus(this.#moved.get(id) ?? ZERO));
      this.#moveBy(id, volume.negated());
    }
  }

  #moveBy(id: string, by: Decimal): void {
    const moved = (this.#moved.get(id) ?? ZERO).plus(by);
    if (moved.isZero()) this.#moved.delete(id);
    else this.#moved.set(id, moved);
  }

  #count(id: string, value: string): void {
    const known = this.#counted.get(id) ?? new Set();
    this.#counted.set(id, known.add(value));
    this.#countedOfAll += 1;
  }

  /** To go on from later. */
  state(): CounterState {
    const texts = (of: ReadonlyMap<string, Decimal>) =>
      Object.fromEntries([...of].map(([id, value]) => [id, decimalText(value)]));
    const state = { moved: texts(this.#moved), values: texts(this.#values) };
    if (this.#counted.size === 0) return state;
    const counted = Object.fromEntries([...this.#counted].map(([id, of]) => [id, [...of]]));
    return { ...state, counted };
  }
}
