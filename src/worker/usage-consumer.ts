import { setTimeout as wait } from 'node:timers/promises';
import type { UsageRange } from '../messages/usage-workflow.js';
import type { UsageIntake, WaitingPartition } from '../messages/broker.js';
import type { Platform } from '../process/platform.js';
import { startWorkflow } from '../platform/temporal/workflow-start.js';
import { RatingSlots } from './rating-slots.js';
import { Watch } from './watch.js';

/**
 * Maximum events of one workflow: a single event gets a workflow of its own; under load events are
 * batched, since a workflow costs as much as rating about 100 events, and the first thousand of each
 * is not prepared ahead. Its activity divides them into transactions, and ends early where they take
 * long (docs/decisions/0483).
 */
const batchEventsMax = 16_000;
/** Interval of polling for events, in addition to notifications. */
const pollMs = 1_000;
/** How long to wait for a notification from this process's workers before polling Temporal. */
const notifyMs = 1_000;
/** How long `drain` waits for batches that are under way. */
const drainMsMax = 8_000;
/**
 * When all slots are taken, the search is limited to tenants without one, at this interval and when a
 * range has ended, instead of at each publish.
 */
const busyLookMs = 100;
/** Failures of a range after which an alarm is raised. */
const alarmFailures = 5;
/** The default share of one tenant while others have work. */
const defaultShare = 0.5;

const keyOf = ({ tenantId, partition }: { tenantId: string; partition: number }): string =>
  `${partition}/${tenantId}`;

/**
 * Reads new events of the usage log and starts workflows that rate them, sequentially in each
 * partition. It is stateless: offsets are read from the database, and a second process that starts
 * the same batch joins the first one's workflow by its id.
 */
export class UsageConsumer {
  readonly #platform: Platform;
  readonly #active = new Map<string, Promise<void>>();
  readonly #slots: RatingSlots;
  /** What to call when a range is rated, by partition and first offset. */
  readonly #onRated = new Map<string, () => void>();
  readonly #watch: Watch;
  #intake: UsageIntake | undefined;
  #lookedAt = 0;
  #lookingLater: NodeJS.Timeout | undefined;

  private constructor(platform: Platform) {
    this.#platform = platform;
    const { config, shares } = platform;
    this.#slots = new RatingSlots(config.tenantShare ?? defaultShare, (tenantId) =>
      shares.isLateForOthersThan(tenantId),
    );
    this.#watch = new Watch(platform, {
      everyMs: pollMs,
      failure: 'cannot look for usage; trying again',
      look: () => this.#look(),
    });
  }

  static async open(platform: Platform): Promise<UsageConsumer> {
    const consumer = new UsageConsumer(platform);
    consumer.#intake = await platform.broker.openIntake(consumer.#watch.wake);
    consumer.#watch.wake();
    return consumer;
  }

  /** Called by the activity in this process after a range is rated. */
  readonly onRated = (range: UsageRange): void => {
    this.#onRated.get(`${keyOf(range)}/${range.firstOffset}`)?.();
  };

  /** Starts nothing more; resolves when what is under way has ended. */
  async drain(): Promise<void> {
    const stopped = this.#watch.stop();
    clearTimeout(this.#lookingLater);
    // Leaves the consumer group, so that other processes take over its partitions.
    await this.#intake?.close();
    await stopped;
    // A batch that waits for its database can be abandoned: its workflow goes on with another
    // worker.
    const limit = new AbortController();
    await Promise.race([
      Promise.all(this.#active.values()),
      wait(drainMsMax, undefined, { signal: limit.signal }).catch(() => undefined),
    ]);
    limit.abort();
  }

  async #look(): Promise<void> {
    if (this.#slots.isBusy && this.#isLookingLater()) return;
    this.#lookedAt = performance.now();
    // One that is being rated now may have ended when its offset has been read: it would be started again in
    // vain, and waited for. Its end asks for another look.
    const before = new Set(this.#active.keys());
    const waiting = (await this.#intake?.waiting()) ?? [];
    this.#platform.metrics.showWaiting(waiting);
    this.#startWaiting(waiting, (each) => before.has(keyOf(each)));
  }

  /** Whether the last search was a moment ago; then the next one is delayed. */
  #isLookingLater(): boolean {
    const delayMs = this.#lookedAt + busyLookMs - performance.now();
    if (delayMs <= 0) return false;
    this.#lookingLater ??= setTimeout(() => {
      this.#lookingLater = undefined;
      this.#watch.wake();
    }, delayMs);
    return true;
  }

  #startWaiting(
    waiting: readonly WaitingPartition[],
    isOld: (partition: WaitingPartition) => boolean,
  ): void {
    if (this.#watch.isStopped) return;
    for (const each of this.#slots.take(waiting, Date.now(), isOld)) {
      const key = keyOf(each);
      const work = this.#rate(each).finally(() => {
        this.#active.delete(key);
        // Its tenant may wait with more, and have no slot now: that is looked for at once.
        this.#lookedAt = -busyLookMs;
        this.#watch.wake();
      });
      this.#active.set(key, work);
    }
    this.#platform.metrics.usageResting.set(this.#slots.resting);
  }

  /** Rates the next batch of a partition; never throws: after a failure the partition backs off. */
  async #rate(waiting: WaitingPartition): Promise<void> {
    const { tenantId, partition, offset, end } = waiting;
    const endOffset = Math.min(end, offset + batchEventsMax);
    try {
      await this.#run({ tenantId, partition, firstOffset: offset, endOffset });
      this.#slots.free(waiting);
    } catch (error) {
      const { failures, delayMs } = this.#slots.rest(waiting, Date.now());
      const level = failures < alarmFailures ? 'warn' : 'error';
      this.#platform.log[level](
        { err: error, tenantId, partition, offset, failures, delayMs },
        'cannot rate usage; trying again',
      );
      setTimeout(this.#watch.wake, delayMs).unref();
    }
  }

  async #run(range: UsageRange): Promise<void> {
    const { tenantId, partition, firstOffset, endOffset } = range;
    const count = endOffset - firstOffset;
    const key = `${keyOf(range)}/${firstOffset}`;
    const rated = new Promise<void>((resolve) => this.#onRated.set(key, resolve));
    try {
      const { workflowId } = await this.#traced(range, () =>
        startWorkflow(this.#platform.temporal, {
          type: 'rateUsage',
          workflowId: `${tenantId}/usage/${partition}/${firstOffset}`,
          input: range,
          subject: {
            tenantId,
            entityType: 'usage',
            entityId: `${partition}/${firstOffset}`,
            actor: 'usage',
          },
          summary: `rate ${count} usage event${count === 1 ? '' : 's'} of partition ${partition}`,
        }),
      );
      await Promise.race([rated, this.#ended(workflowId, rated)]);
    } finally {
      this.#onRated.delete(key);
    }
  }

  /**
   * A single event is rated in the trace of the request that published it; a batch has a trace of
   * its own, linked by its activity to those requests.
   */
  async #traced<T>(
    { tenantId, partition, firstOffset, endOffset }: UsageRange,
    work: () => Promise<T>,
  ): Promise<T> {
    const { tracing, broker } = this.#platform;
    if (tracing === undefined) return work();
    if (endOffset - firstOffset > 1) return tracing.under(undefined, work);
    const { records } = await broker.read(tenantId, partition, firstOffset, endOffset);
    return tracing.under(records[0]?.trace ?? undefined, work);
  }

  /** Waits for the end of a workflow: by notification, then by polling Temporal. */
  async #ended(workflowId: string, rated: Promise<void>): Promise<void> {
    const abort = new AbortController();
    void rated.then(() => abort.abort());
    const isNotified = await wait(notifyMs, false, { signal: abort.signal }).catch(() => true);
    if (!isNotified) await this.#platform.temporal.waiter.workflow.getHandle(workflowId).result();
  }
}
