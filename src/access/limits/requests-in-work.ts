import { problem } from '../../kernel/problem.js';
import type { Metrics } from '../../platform/metrics.js';

/**
 * The queues of requests. `light`: small reads and writes. `heavy`: much time or memory. `flow`:
 * mostly waiting for a workflow.
 */
export type Lane = 'light' | 'heavy' | 'flow';

/** Ends the work of a request; the size of its answer adds to its cost. */
export type Leave = (bytes?: number) => void;

/** Where the configuration does not say. */
export const tenantShareDefault = 0.5;

/** Slots that one tenant may use while it is alone, and the minimum that it always keeps. */
const lanes: Readonly<Record<Lane, { readonly slots: number; readonly least: number }>> = {
  light: { slots: 64, least: 4 },
  heavy: { slots: 4, least: 1 },
  flow: { slots: 256, least: 8 },
};

/** Maximum waiting requests: of a tenant, and of all. Each keeps a connection, but no body. */
const waitingMax = { tenant: 1_000, all: 4_000 };
const waitingMs = 30_000;
/** How long a tenant counts as active after its last work. */
const presentMs = 1_000;
const tickMs = 50;
/** Event-loop delay above which fewer requests are started while several tenants are active. */
const lateMs = 20;
/**
 * The fraction of its share that a tenant may use: initially, and its steps up while the event loop
 * is on time and down while it is late.
 */
const ease = { first: 1 / 8, least: 1 / 32, step: 1 / 32 };
/**
 * A tenant whose light requests cost more on the mean, in milliseconds, has no more slots for them than for
 * heavy ones: each does some milliseconds in every turn of the event loop, and turns are as long as their sum.
 * What a new one costs is not known: it counts as dear until its first has ended.
 */
const dearMs = 20;
/** What a MiB of answer costs: about as long as it takes to write it. */
const msPerByte = 10 / (1024 * 1024);

interface Waiting {
  readonly lane: Lane;
  readonly since: number;
  readonly isGone: () => boolean;
  readonly begin: () => void;
  readonly refuse: (reason: Error) => void;
}

interface Running {
  /** The virtual time of its start. */
  readonly since: number;
}

interface Tenant {
  readonly inWork: Record<Lane, Set<Running>>;
  readonly waiting: Record<Lane, Waiting[]>;
  /**
   * The accumulated cost of its work in milliseconds of this process: the tenant with the lowest is
   * next.
   */
  spent: number;
  /** The mean cost of its requests of a lane; it is charged in advance and corrected afterwards. */
  readonly mean: Record<Lane, number>;
  /** How much of its share it may use. */
  ease: number;
  seenAt: number;
}

const nextEase = (now: number, isLate: boolean): number =>
  isLate ? Math.max(now / 2, ease.least) : Math.min(1, now + ease.step);

const none = (): Record<Lane, number> => ({ light: 0, heavy: 0, flow: 0 });

/**
 * Fair queueing of this process's work among tenants, by concurrent requests and their cost instead
 * of the number of requests sent. A tenant alone may use all slots of a lane. While others are
 * active it is limited to its share, and some slots are reserved that one tenant cannot fill; the
 * tenant with the lowest cost is next. A new tenant starts with an eighth of its share, since the
 * cost of its requests shows only after they have delayed others. The cost of a request is its time
 * in work, divided by the number of concurrent requests, plus the size of its answer
 * (docs/decisions/0171).
 */
export class RequestsInWork {
  readonly #share: number;
  readonly #metrics: Pick<Metrics, 'refusals'>;
  readonly #tenants = new Map<string, Tenant>();
  readonly #inWork = none();
  #count = 0;
  #waiting = 0;
  /** Virtual time of fair queueing: milliseconds of work per request since the process began. */
  #clock = 0;
  #clockAt = 0;
  /** The virtual time of the tenant that started last; a new tenant starts from it. */
  #floor = 0;
  /** The state of the event loop: 1 while it is on time. */
  #ease = 1;
  #timer: NodeJS.Timeout | undefined;
  #tickedAt = 0;

  constructor(share: number, metrics: Pick<Metrics, 'refusals'>) {
    this.#share = share;
    this.#metrics = metrics;
  }

  /**
   * Waits until a request may start; call the returned function at its end. 429: too many requests
   * of its tenant wait, or it has waited too long. `isGone`: the client has disconnected.
   */
  enter(tenantId: string, lane: Lane, isGone: () => boolean): Leave | Promise<Leave> {
    const tenant = this.#tenantOf(tenantId);
    if (tenant.waiting[lane].length === 0 && this.#mayBegin(tenant, lane)) {
      return this.#begin(tenant, lane);
    }
    const { length: own } = tenant.waiting[lane];
    if (own >= waitingMax.tenant || this.#waiting >= waitingMax.all) throw this.#refusal();
    this.#waiting += 1;
    return new Promise((resolve, reject) => {
      tenant.waiting[lane].push({
        lane,
        isGone,
        since: performance.now(),
        refuse: reject,
        // In a turn of its own: the request that leaves may have waited for nothing since it began, and
        // so may this one and all behind it, while nothing else of the process would run.
        begin: () => void setImmediate(resolve, this.#begin(tenant, lane)),
      });
    });
  }

  /** Whether requests of other tenants are delayed, since the event loop was late recently. */
  isLateForOthersThan(tenantId: string): boolean {
    const { size } = this.#tenants;
    return this.#ease < 1 && size > (this.#tenants.has(tenantId) ? 1 : 0);
  }

  #refusal(): Error {
    this.#metrics.refusals.inc({ reason: 'share' });
    const retryAfterSeconds = 1;
    return problem.rateLimited('Too many of your requests are in work; send it again.', {
      retryAfterSeconds,
    });
  }

  #tenantOf(id: string): Tenant {
    const known = this.#tenants.get(id);
    const now = performance.now();
    if (known) {
      known.seenAt = now;
      return known;
    }
    const tenant: Tenant = {
      inWork: { light: new Set(), heavy: new Set(), flow: new Set() },
      waiting: { light: [], heavy: [], flow: [] },
      spent: this.#floor,
      mean: { light: dearMs * 1.2, heavy: 1, flow: 1 },
      ease: ease.first,
      seenAt: now,
    };
    this.#tenants.set(id, tenant);
    this.#startTicking(now);
    return tenant;
  }

  #mayBegin({ inWork, mean, ease: eased }: Tenant, lane: Lane): boolean {
    const { slots } = lanes[lane];
    const { size } = inWork[lane];
    if (this.#tenants.size === 1) return size < slots;
    const own = lanes[lane === 'light' && mean.light > dearMs ? 'heavy' : lane];
    const most = Math.max(own.least, Math.ceil(own.slots * this.#share * eased));
    return size < most && this.#inWork[lane] < Math.ceil(slots * (1 + this.#share));
  }

  #advance(): number {
    const now = performance.now();
    if (this.#count > 0) this.#clock += (now - this.#clockAt) / this.#count;
    this.#clockAt = now;
    return this.#clock;
  }

  #begin(tenant: Tenant, lane: Lane): Leave {
    const running = { since: this.#advance() };
    const mean = tenant.mean[lane];
    tenant.spent = Math.max(tenant.spent, this.#floor) + mean;
    this.#floor = Math.max(this.#floor, tenant.spent - mean);
    tenant.inWork[lane].add(running);
    this.#inWork[lane] += 1;
    this.#count += 1;
    return (bytes = 0) => {
      const cost = this.#advance() - running.since + bytes * msPerByte;
      tenant.spent += cost - mean;
      tenant.mean[lane] = tenant.mean[lane] * 0.8 + cost * 0.2;
      tenant.seenAt = performance.now();
      tenant.inWork[lane].delete(running);
      this.#inWork[lane] -= 1;
      this.#count -= 1;
      if (this.#waiting > 0) this.#dispatch(lane);
    };
  }

  /** Starts queued requests, each time of the tenant with the lowest cost. */
  #dispatch(lane: Lane): void {
    for (;;) {
      let next: Tenant | undefined;
      for (const tenant of this.#tenants.values()) {
        if (tenant.waiting[lane].length === 0 || !this.#mayBegin(tenant, lane)) continue;
        if (next === undefined || tenant.spent < next.spent) next = tenant;
      }
      const first = next?.waiting[lane].shift();
      if (!first) return;
      this.#waiting -= 1;
      if (first.isGone()) first.refuse(problem.overloaded('The client has gone.'));
      else first.begin();
    }
  }

  #startTicking(now: number): void {
    if (this.#timer) return;
    this.#tickedAt = now;
    this.#timer = setInterval(() => this.#tick(), tickMs);
    this.#timer.unref();
  }

  /** Measures the event-loop delay, forgets inactive tenants, and ends long waits. */
  #tick(): void {
    this.#advance();
    const now = performance.now();
    const isLate = now - this.#tickedAt - tickMs > lateMs;
    this.#tickedAt = now;
    this.#ease = nextEase(this.#ease, isLate);
    for (const [id, tenant] of this.#tenants) {
      tenant.ease = nextEase(tenant.ease, isLate);
      // What is still in work has cost as much at the least.
      for (const { since } of tenant.inWork.light) {
        tenant.mean.light = Math.max(tenant.mean.light, this.#clock - since);
      }
      const lists = Object.values(tenant.waiting);
      for (const list of lists) this.#endLongWaits(list, now);
      const isIdle =
        lists.every((list) => list.length === 0) &&
        Object.values(tenant.inWork).every(({ size }) => size === 0);
      if (isIdle && now - tenant.seenAt > presentMs) this.#tenants.delete(id);
    }
    if (this.#waiting > 0) for (const lane of Object.keys(lanes)) this.#dispatch(lane as Lane);
    if (this.#tenants.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#ease = 1;
  }

  #endLongWaits(list: Waiting[], now: number): void {
    while (list[0] !== undefined && now - list[0].since > waitingMs) {
      list.shift()?.refuse(this.#refusal());
      this.#waiting -= 1;
    }
  }
}
