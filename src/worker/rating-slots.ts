/** A partition of a tenant that wants to be rated. */
export interface Wanting {
  readonly tenantId: string;
  readonly partition: number;
}

/** Partitions rated at the same time: one computes while others write. */
const slotsMax = 4;
/**
 * For tenants without a slot when all others are taken, so that no tenant waits for another's work.
 */
const spareSlots = 4;
const delayMinMs = 500;
const delayMaxMs = 30_000;

const keyOf = ({ tenantId, partition }: Wanting): string => `${partition}/${tenantId}`;

interface Rest {
  readonly failures: number;
  readonly until: number;
}

/**
 * Schedules the partitions to rate (docs/decisions/0188-slots-of-rating.md): round robin over
 * tenants, each with at most its share while others have work. A failed partition gets no slot
 * during its back-off.
 */
export class RatingSlots {
  readonly #shareMax: number;
  readonly #isInTheWay: (tenantId: string) => boolean;
  readonly #active = new Map<string, string>();
  /** When a tenant, or a partition of it, was served last: the longest wait goes first. */
  readonly #servedAt = new Map<string, number>();
  readonly #rests = new Map<string, Rest>();
  #serving = 0;

  /**
   * `share`: the fraction of slots that one tenant may use while others have work, above 0, at most
   * 1. `isInTheWay`: whether requests of other tenants are answered late; meanwhile the tenant gets
   * one slot.
   */
  constructor(share: number, isInTheWay: (tenantId: string) => boolean = () => false) {
    this.#isInTheWay = isInTheWay;
    this.#shareMax = Math.max(1, Math.floor(slotsMax * share));
  }

  /** Whether all slots but the spare ones are taken. */
  get isBusy(): boolean {
    return this.#active.size >= slotsMax;
  }

  /** The number of partitions in back-off. */
  get resting(): number {
    return this.#rests.size;
  }

  /**
   * Assigns free slots to waiting partitions, and returns those that got one. `isOld`: what is known of one
   * was read before its last range ended.
   */
  take<W extends Wanting>(
    waiting: readonly W[],
    now: number,
    isOld: (wanting: W) => boolean = () => false,
  ): W[] {
    this.#forgetRested(waiting);
    const idle = waiting
      .filter(
        (each) => !this.#active.has(keyOf(each)) && !this.#isResting(each, now) && !isOld(each),
      )
      .sort(
        (a, b) =>
          this.#lastServed(a.tenantId) - this.#lastServed(b.tenantId) ||
          this.#lastServed(keyOf(a)) - this.#lastServed(keyOf(b)),
      );
    const taken: W[] = [];
    for (let next = this.#choose(idle); next; next = this.#choose(idle)) {
      idle.splice(idle.indexOf(next), 1);
      this.#serving += 1;
      this.#servedAt.set(next.tenantId, this.#serving);
      this.#servedAt.set(keyOf(next), this.#serving);
      this.#active.set(keyOf(next), next.tenantId);
      taken.push(next);
    }
    return taken;
  }

  #choose<W extends Wanting>(idle: readonly W[]): W | undefined {
    const held = new Map<string, number>();
    for (const tenantId of this.#active.values()) {
      held.set(tenantId, (held.get(tenantId) ?? 0) + 1);
    }
    const others = new Set([...held.keys(), ...idle.map(({ tenantId }) => tenantId)]);
    const isAllowed = ({ tenantId }: W): boolean => {
      const own = held.get(tenantId) ?? 0;
      if (own === 0) return this.#active.size < slotsMax + spareSlots;
      const isWithinShare = own < this.#shareMax || others.size === 1;
      return this.#active.size < slotsMax && isWithinShare && !this.#isInTheWay(tenantId);
    };
    let chosen: W | undefined;
    for (const each of idle) {
      const fewest = chosen === undefined ? Infinity : (held.get(chosen.tenantId) ?? 0);
      if ((held.get(each.tenantId) ?? 0) < fewest && isAllowed(each)) chosen = each;
    }
    return chosen;
  }

  #lastServed(key: string): number {
    return this.#servedAt.get(key) ?? 0;
  }

  #isResting(wanting: Wanting, now: number): boolean {
    return (this.#rests.get(keyOf(wanting))?.until ?? 0) > now;
  }

  /** A partition that no longer waits was rated by another process. */
  #forgetRested(waiting: readonly Wanting[]): void {
    if (this.#rests.size === 0) return;
    const wanted = new Set(waiting.map(keyOf));
    for (const key of this.#rests.keys()) {
      if (!wanted.has(key) && !this.#active.has(key)) this.#rests.delete(key);
    }
  }

  /** Frees the slot of a range that was rated. */
  free(wanting: Wanting): void {
    this.#active.delete(keyOf(wanting));
    this.#rests.delete(keyOf(wanting));
  }

  /** Frees the slot of a failed range; returns its number of failures and its back-off. */
  rest(wanting: Wanting, now: number): { readonly failures: number; readonly delayMs: number } {
    const key = keyOf(wanting);
    const failures = (this.#rests.get(key)?.failures ?? 0) + 1;
    const delayMs = Math.min(delayMinMs * 2 ** (failures - 1), delayMaxMs);
    this.#rests.set(key, { failures, until: now + delayMs });
    this.#active.delete(key);
    return { failures, delayMs };
  }
}
