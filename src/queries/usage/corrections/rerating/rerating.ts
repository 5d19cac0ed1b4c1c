import type { Knex } from 'knex';
import { ownText } from '../../../../kernel/text/own-text.js';
import {
  findCountersOf,
  readCounters,
  type MeteredCounter,
} from '../../../../models/usage/corrections/metered-counter.js';
import { isBehind, type LogMark } from '../log-mark.js';
import { findMembers, type MeterOwner, type PlacedEvent } from '../meter-members.js';
import { Pass } from './rerating-pass.js';
import type { ChangeSink, MovedCounters, Rerated, RerateRequest } from './rerate-request.js';

/** Events that are read at once. */
const pageSize = 1_000;
/** Pages that are read while one is rated. */
const pagesAhead = 2;

interface Place {
  readonly partition: number | undefined;
  readonly offset: number | undefined;
  readonly receivedAt: string;
}

function placeOf(event: PlacedEvent | undefined): Place | null {
  if (!event) return null;
  const { partition, offset, receivedAt = '' } = event;
  return { partition, offset, receivedAt: ownText(receivedAt) };
}

/**
 * Rates recorded events again, in the order of the log, with other facts, and says which charges come
 * out different; nothing is written. All other events of the counters that move are rated with the
 * plan that they were rated with, from the start of the period: their counters have moved.
 *
 * Which counters move is known only after events were rated, so that this is repeated until there are
 * no more of them. Usage that comes meanwhile is caught up with.
 */
export class Rerating {
  readonly #db: Knex;
  readonly #tenantId: string;
  readonly #sink: ChangeSink;
  readonly owner: MeterOwner;
  #request: RerateRequest;
  #pass: Pass;
  #members: readonly PlacedEvent[];
  /** The first of their pages, while it is read ahead. */
  #first: ReturnType<Pass['read']> | undefined;
  #last: Place | null = null;
  #isOfOnePartition = true;
  /** Of the events that were looked at, those behind the mark. */
  #recent = new Set<string>();

  constructor(db: Knex, tenantId: string, request: RerateRequest, sink: ChangeSink) {
    this.#db = db;
    this.#tenantId = tenantId;
    this.#sink = sink;
    this.owner = request.owner;
    this.#request = request;
    this.#pass = new Pass(db, tenantId, request, new Map(), sink);
    this.#members = request.targets;
  }

  /**
   * Reads what rating begins with, which depends on nothing that others have rated: it may be done while
   * they are. `mark` is how far the log was rated before; null: nobody catches up with what comes.
   */
  async open(mark: LogMark | null): Promise<void> {
    const { owner, targets, isForced } = this.#request;
    if (isForced) return;
    // Most counters are known before anything is rated: then one pass is enough.
    const ids = targets.map(({ id }) => id);
    const counters = await findCountersOf(this.#db, this.#tenantId, owner, ids);
    if (counters.size > 0) this.#members = await this.#follow(counters, mark);
    if (this.#members.length === 0) return;
    this.#first = this.#read(this.#members, 0);
    await this.#first;
  }

  /**
   * The same `mark` as that of `open`. Afterwards none of the events is held: all that a correction rates
   * again waits for the last of it.
   */
  async run(mark: LogMark | null): Promise<void> {
    let members = this.#members;
    this.#members = [];
    for (;;) {
      await this.#rateAll(members);
      if (this.#pass.found.size === 0) break;
      await this.#sink.discard();
      const found = new Map([...this.#pass.counters, ...this.#pass.found]);
      const stored = await readCounters(this.#db, this.#tenantId, [...found.keys()], false);
      members = await this.#follow(new Map([...found, ...stored]), mark);
    }
    await this.#sink.keep();
    this.#request = { ...this.#request, targets: [] };
    this.#pass.forgetTargets();
  }

  /** Rates events page by page; while one is rated, the database reads the next ones. */
  async #rateAll(events: readonly PlacedEvent[]): Promise<void> {
    const pages = this.#first ? [this.#first] : [];
    this.#first = undefined;
    let from = pages.length * pageSize;
    const readAhead = (): void => {
      for (; pages.length < pagesAhead && from < events.length; from += pageSize) {
        pages.push(this.#read(events, from));
      }
    };
    readAhead();
    for (let page = pages.shift(); page; page = pages.shift()) {
      const read = await page;
      readAhead();
      await this.#pass.rate(read);
    }
  }

  #read(events: readonly PlacedEvent[], from: number): ReturnType<Pass['read']> {
    const page = this.#pass.read(events.slice(from, from + pageSize));
    // Where rating fails nobody waits for it any more.
    page.catch(() => undefined);
    return page;
  }

  /** Begins a pass in which these counters are followed; its events. */
  async #follow(
    counters: ReadonlyMap<string, MeteredCounter>,
    mark: LogMark | null,
  ): Promise<readonly PlacedEvent[]> {
    const request = this.#request;
    const members = await findMembers(this.#db, this.#tenantId, request, [...counters.values()]);
    this.#last = placeOf(members.at(-1));
    this.#isOfOnePartition = members.every(({ partition }) => partition === members[0]?.partition);
    const recent = mark ? members.filter((one) => isBehind(mark, one)) : [];
    this.#recent = new Set(recent.map(({ id }) => ownText(id)));
    this.#pass = new Pass(this.#db, this.#tenantId, request, counters, this.#sink);
    return members;
  }

  /** Whether usage that comes later is to be followed. */
  get isMetered(): boolean {
    return this.#pass.counters.size > 0;
  }

  /**
   * Rates usage of the account and service that came meanwhile, in the order of the log; false: it
   * belongs before what was rated, or moves other counters, so that all begins anew.
   */
  async catchUp(came: readonly Required<PlacedEvent>[]): Promise<boolean> {
    const { accountId, serviceId } = this.owner;
    const fresh = came.filter(
      (one) =>
        one.accountId === accountId && one.serviceId === serviceId && !this.#recent.has(one.id),
    );
    if (!this.isMetered || fresh.length === 0) return true;
    for (const one of fresh) {
      if (!this.#comesAfter(one)) return false;
      this.#last = one;
      this.#recent.add(one.id);
    }
    await this.#rateAll(fresh);
    return this.#pass.found.size === 0;
  }

  #comesAfter(event: Required<PlacedEvent>): boolean {
    const last = this.#last;
    if (last?.offset === undefined) return true;
    if (last.partition !== event.partition) return false;
    const isLater = last.offset < event.offset;
    return this.#isOfOnePartition ? isLater : isLater && last.receivedAt <= event.receivedAt;
  }

  get result(): Rerated {
    return this.#pass.result;
  }

  get counters(): MovedCounters {
    return this.#pass.moved;
  }
}
