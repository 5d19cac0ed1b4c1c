import { condition } from '@temporalio/workflow';

/** Notes until when an execution only waits, where it does, and gives the time of its tenant. */
export type LookAtClock = (until?: number) => Promise<number>;

/** Waits until branches that can go on at this moment have: conditions are looked at again then. */
function everythingElse(): Promise<void> {
  let isLater = false;
  return condition(() => {
    const wasLater = isLater;
    isLater = true;
    return wasLater;
  });
}

/**
 * The time by which a definition waits, in milliseconds (docs/decisions/0348): the real one, or of a
 * sandbox the one that its clock had when it was looked at last. Every step goes through it, so that it
 * is known when the execution only waits: the clock of a sandbox goes on then.
 */
export class TenantTime {
  readonly #look: LookAtClock;
  readonly #waits = new Set<{ readonly until: number }>();
  /** Undefined: the tenant is no sandbox. */
  #standsAt: number | undefined;
  #underWay = 0;
  #isNoted = false;

  constructor(standsAt: number | undefined, look: LookAtClock) {
    this.#standsAt = standsAt;
    this.#look = look;
  }

  now(): number {
    return this.#standsAt ?? Date.now();
  }

  /** The time of a sandbox has come so far. */
  goOn(to: number): void {
    if (this.#standsAt === undefined) return;
    this.#standsAt = Math.max(this.#standsAt, to);
    this.#isNoted = false;
  }

  /** What is waited for from now on begins at the time that it is. */
  async refresh(): Promise<void> {
    if (this.#standsAt !== undefined) this.goOn(await this.step(() => this.#look()));
  }

  /** A step: while it is under way, the execution does not only wait. */
  async step<Output>(work: () => Promise<Output>): Promise<Output> {
    this.#underWay += 1;
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
    }
  }

  /** Waits until an instant, or until it is over before; whether it was. */
  async wait(isOver: () => boolean, until: number, summary: string): Promise<boolean> {
    if (this.#standsAt === undefined) {
      return condition(isOver, Math.max(until - Date.now(), 1), { summary });
    }
    const mine = { until };
    this.#waits.add(mine);
    this.#isNoted = false;
    const isDone = (): boolean => isOver() || this.now() >= until;
    try {
      while (!isDone()) {
        await everythingElse();
        if (this.#isToBeNoted()) await this.#note();
        else await condition(() => isDone() || this.#isToBeNoted());
      }
      return isOver();
    } finally {
      this.#waits.delete(mine);
    }
  }

  #isToBeNoted(): boolean {
    return this.#underWay === 0 && !this.#isNoted;
  }

  async #note(): Promise<void> {
    const until = Math.min(...[...this.#waits].map((wait) => wait.until));
    this.#isNoted = true;
    const now = await this.step(() => this.#look(until));
    if (now > this.now()) this.goOn(now);
  }
}
