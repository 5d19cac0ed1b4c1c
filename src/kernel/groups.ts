import { AsyncResource } from 'node:async_hooks';

/** What is done of a group: as many results as it has items, in their order. */
type CarryOut<Item, Result> = (
  items: readonly [Item, ...Item[]],
) => Promise<readonly PromiseSettledResult<Result>[]>;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly lane: string;
  readonly context: AsyncResource;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/** The groups that share one limit. */
interface Queue<Item, Result> {
  readonly waiting: Waiting<Item, Result>[];
  /** Lanes that groups which run have. */
  readonly lanes: Set<string>;
  running: number;
  /** When the last group has begun. */
  begunAt: number;
  /** Set while it is waited for whether that one lasts. */
  timer: NodeJS.Timeout | undefined;
}

interface GroupOptions<Item, Result> {
  readonly carryOut: CarryOut<Item, Result>;
  /** Of one key, how many groups run at a time. */
  readonly groupsMax: number;
  readonly itemsMax: number;
  /** How long a group runs before another one begins beside it: fewer and larger ones do more. */
  readonly patienceMs: number;
}

/**
 * Does together what waits at the same moment: while groups of a key run, the next one fills. What is
 * of the same lane would only wait for each other, so no two groups that run have the same.
 */
export class Groups<Item, Result> {
  readonly #options: GroupOptions<Item, Result>;
  readonly #queues = new Map<string, Queue<Item, Result>>();

  constructor(options: GroupOptions<Item, Result>) {
    this.#options = options;
  }

  join(key: string, lane: string, item: Item): Promise<Result> {
    let queue = this.#queues.get(key);
    if (!queue) {
      queue = { waiting: [], lanes: new Set(), running: 0, begunAt: 0, timer: undefined };
      this.#queues.set(key, queue);
    }
    const { waiting } = queue;
    return new Promise((resolve, reject) => {
      waiting.push({ item, lane, context: new AsyncResource('group'), resolve, reject });
      // What arrives in the same turn of the event loop goes together.
      if (waiting.length === 1) setImmediate(() => this.#start(key));
    });
  }

  #start(key: string): void {
    const queue = this.#queues.get(key);
    if (!queue) return;
    while (queue.running < this.#options.groupsMax && !this.#isPatient(key, queue)) {
      const group = this.#take(queue);
      if (group.length === 0) break;
      queue.running += 1;
      queue.begunAt = performance.now();
      void this.#run(group).then(() => {
        queue.running -= 1;
        for (const { lane } of group) queue.lanes.delete(lane);
        this.#start(key);
      });
    }
    if (queue.running > 0 || queue.waiting.length > 0) return;
    clearTimeout(queue.timer);
    this.#queues.delete(key);
  }

  /** Whether what waits waits for the end of the last group still; looks again when that lasts. */
  #isPatient(key: string, queue: Queue<Item, Result>): boolean {
    if (queue.running === 0 || queue.waiting.length === 0) return false;
    const leftMs = queue.begunAt + this.#options.patienceMs - performance.now();
    if (leftMs <= 0) return false;
    queue.timer ??= setTimeout(() => {
      queue.timer = undefined;
      this.#start(key);
    }, Math.ceil(leftMs));
    return true;
  }

  /** Takes what may run now, the longest waiting first. */
  #take({ waiting, lanes }: Queue<Item, Result>): Waiting<Item, Result>[] {
    const group: Waiting<Item, Result>[] = [];
    const later: Waiting<Item, Result>[] = [];
    for (const one of waiting.splice(0)) {
      const isFree = group.length < this.#options.itemsMax && !lanes.has(one.lane);
      (isFree ? group : later).push(one);
    }
    waiting.push(...later);
    for (const { lane } of group) lanes.add(lane);
    return group;
  }

  async #run(group: readonly Waiting<Item, Result>[]): Promise<void> {
    const [first, ...others] = group;
    if (!first) return;
    const items = [first.item, ...others.map(({ item }) => item)] as const;
    const { carryOut } = this.#options;
    try {
      // Under a request of this group, not under the one that has ended before it.
      const results = await first.context.runInAsyncScope(carryOut, undefined, items);
      for (const [index, { resolve, reject }] of group.entries()) {
        const result = results[index];
        if (result?.status === 'fulfilled') resolve(result.value);
        else reject(result?.reason ?? new Error('A group has no result for one of its items.'));
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}
