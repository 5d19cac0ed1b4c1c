/** A tenant waited too long for a connection, or has too many waiting requests. */
export class PoolBusyError extends Error {
  /** Known to `commands/rules/database-problem.ts`, as the codes of PostgreSQL are. */
  readonly code = 'POOL_BUSY';

  constructor() {
    super('Too much work of this tenant waits for the database.');
    this.name = 'PoolBusyError';
  }
}

interface Waiter {
  readonly grant: () => void;
  readonly refuse: (error: Error) => void;
}

interface ShareOptions {
  /** Connections of the pool. */
  readonly max: number;
  /** The part of them that one tenant may hold while others wait: in (0, 1]. */
  readonly share: number;
  readonly waitMs?: number;
  readonly waitersMax?: number;
}

/**
 * Divides the connections of a process among tenants (docs/decisions/0179). A tenth is reserved for
 * the platform itself. A tenant may exceed its share only while a quarter of the other connections is
 * free, so that a new tenant finds one at once; waiting tenants are served round robin.
 */
export class PoolShares {
  readonly #total: number;
  readonly #perTenant: number;
  readonly #kept: number;
  readonly #waitMs: number;
  readonly #waitersMax: number;
  readonly #held = new Map<string, number>();
  /** In the order in which tenants are served next. */
  readonly #waiting = new Map<string, Waiter[]>();
  #used = 0;

  constructor({ max, share, waitMs = 10_000, waitersMax = 2_000 }: ShareOptions) {
    const reserved = max < 4 ? 0 : Math.max(1, Math.floor(max / 10));
    this.#total = max - reserved;
    this.#perTenant = Math.max(1, Math.ceil(share * this.#total));
    this.#kept = Math.ceil(this.#total / 4);
    this.#waitMs = waitMs;
    this.#waitersMax = waitersMax;
  }

  /**
   * Takes a place for a connection; returns a promise only if it has to wait. `onWait` is called
   * with a function that cancels waiting.
   */
  enter(
    tenantId: string,
    onWait?: (giveUp: (error: Error) => void) => void,
  ): Promise<void> | undefined {
    if (this.#mayEnter(tenantId)) {
      this.#take(tenantId);
      return undefined;
    }
    return this.#wait(tenantId, onWait);
  }

  leave(tenantId: string): void {
    const left = (this.#held.get(tenantId) ?? 0) - 1;
    if (left > 0) this.#held.set(tenantId, left);
    else this.#held.delete(tenantId);
    this.#used -= 1;
    if (this.#waiting.size > 0) this.#serve();
  }

  #mayEnter(tenantId: string): boolean {
    const free = this.#total - this.#used;
    if (free <= 0) return false;
    if ((this.#held.get(tenantId) ?? 0) < this.#perTenant) return true;
    return free > this.#kept;
  }

  #take(tenantId: string): void {
    this.#held.set(tenantId, (this.#held.get(tenantId) ?? 0) + 1);
    this.#used += 1;
  }

  #wait(tenantId: string, onWait?: (giveUp: (error: Error) => void) => void): Promise<void> {
    const queue = this.#waiting.get(tenantId) ?? [];
    if (queue.length >= this.#waitersMax) return Promise.reject(new PoolBusyError());
    this.#waiting.set(tenantId, queue);
    return new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => giveUp(new PoolBusyError()), this.#waitMs);
      const waiter: Waiter = {
        grant: () => {
          clearTimeout(timer);
          resolve();
        },
        refuse: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      const giveUp = (error: Error): void => {
        const place = queue.indexOf(waiter);
        if (place === -1) return;
        queue.splice(place, 1);
        if (queue.length === 0) this.#waiting.delete(tenantId);
        waiter.refuse(error);
      };
      queue.push(waiter);
      onWait?.(giveUp);
    });
  }

  /** Assigns free places to waiting tenants, round robin. */
  #serve(): void {
    for (const [tenantId, queue] of this.#waiting) {
      if (this.#used >= this.#total) return;
      if (!this.#mayEnter(tenantId)) continue;
      const waiter = queue.shift();
      this.#waiting.delete(tenantId);
      // The tenant goes to the end of the queue; the loop returns to it while places are free.
      if (queue.length > 0) this.#waiting.set(tenantId, queue);
      if (waiter === undefined) continue;
      this.#take(tenantId);
      waiter.grant();
    }
  }
}
