import { compareDecimals, Decimal } from '../../kernel/numbers/money.js';
import type { TriedRow } from '../../models/usage/repricing/tried-charge.js';
import { counterIdOf } from '../../models/usage/usage-counter.js';
import type { CounterReader } from '../../rating/index.js';

/** How far an event has moved a counter: once, up to the end of its last price (docs/decisions/0012). */
export interface RecordedMove {
  readonly before: Decimal;
  readonly volume: Decimal;
  /** Of a UNIQUE counter: the value that the event had for it, which was new to it if it has moved. */
  readonly value: string | null;
}

/** Whether an event found its value counted already. */
export const wasCounted = (move: RecordedMove | undefined, value: string): boolean =>
  move?.value === value && move.volume.isZero();

/** The counters that the charges of an event have moved, by their ids. */
export function recordedMoves({
  charges,
}: {
  readonly charges: readonly { readonly dimensions: readonly TriedRow[] }[];
}): Map<string, RecordedMove> {
  const moves = new Map<string, RecordedMove>();
  for (const { dimensions } of charges) {
    for (const dimension of dimensions) {
      const { counterId, counterBefore, volume, sharedVolume, countedValue: value } = dimension;
      if (counterId === null) continue;
      const moved = new Decimal(sharedVolume ?? volume);
      const known = moves.get(counterId);
      moves.set(counterId, {
        before: new Decimal(counterBefore ?? 0),
        volume: known && compareDecimals(known.volume, moved) > 0 ? known.volume : moved,
        value,
      });
    }
  }
  return moves;
}

/** The counters as an event found them. */
export const countersBefore = (moves: ReadonlyMap<string, RecordedMove>): CounterReader => ({
  get: (key) => moves.get(counterIdOf(key))?.before,
  hasCounted: (key, value) => wasCounted(moves.get(counterIdOf(key)), value),
});

/** How what a UNIQUE counter has counted changes: the ids of values. */
export interface CountedChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/**
 * What UNIQUE counters have counted while usage of their periods is rated again, and what the books say
 * that they had. Ids of values are held in memory, of so many events as a correction looks at.
 */
export class CountedValues {
  readonly #now = new Map<string, Set<string>>();
  readonly #recorded = new Map<string, Set<string>>();

  /** An event has counted this by the books. */
  record(moves: ReadonlyMap<string, RecordedMove>): void {
    for (const [id, { value, volume }] of moves) {
      if (value !== null && !volume.isZero()) addTo(this.#recorded, id, value);
    }
  }

  has(id: string, value: string): boolean {
    return this.#now.get(id)?.has(value) === true;
  }

  count(id: string, value: string): void {
    addTo(this.#now, id, value);
  }

  /** Whether an event finds its value counted, or not, as it did. */
  isAsRecorded(id: string, { value, volume }: RecordedMove): boolean {
    return value === null || this.has(id, value) === volume.isZero();
  }

  /** An event whose charges stay counts what they say; another one counts what it did not. */
  moveAsRecorded(id: string, { value, volume }: RecordedMove): void {
    if (value !== null && !volume.isZero()) this.count(id, value);
  }

  changeOf(id: string): CountedChange {
    const [now, recorded] = [this.#now.get(id), this.#recorded.get(id)];
    return { added: without(now, recorded), removed: without(recorded, now) };
  }
}

function addTo(sets: Map<string, Set<string>>, id: string, value: string): void {
  const known = sets.get(id);
  if (known) known.add(value);
  else sets.set(id, new Set([value]));
}

const without = (
  values: ReadonlySet<string> | undefined,
  others: ReadonlySet<string> | undefined,
): string[] => [...(values ?? [])].filter((value) => others?.has(value) !== true);
