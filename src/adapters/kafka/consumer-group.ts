import type { Consumer, GroupAssignment } from '@platformatic/kafka';
import type { Logger } from '../../platform/log.js';
import { clientOptions, prefixed, type KafkaSettings } from './kafka-client.js';
import type { KafkaTopics } from './kafka-topics.js';

/** Partitions of the group's topic, each a share of the work; further processes would be idle. */
const shareCount = 64;

/** A process that does not answer for so long has lost its shares. Kafka allows no less. */
const sessionTimeoutMs = 6_000;
const heartbeatMs = 1_500;
const watchMs = 1_000;
const requestTimeoutMs = 5_000;
/** A member that fails to leave in time is removed after the session timeout, without harm. */
const leaveMsMax = 2_000;

const atMost = (work: Promise<unknown>, limitMs: number): Promise<unknown> =>
  Promise.race([work, new Promise((resolve) => setTimeout(resolve, limitMs).unref())]);

/** One after the other for the partitions of a tenant, so that members get as many of each. */
function shareOf(tenantId: string, partition: number): number {
  let hash = 0;
  for (let index = 0; index < tenantId.length; index += 1) {
    hash = (Math.imul(hash, 31) + tenantId.charCodeAt(index)) >>> 0;
  }
  return (hash + partition) % shareCount;
}

/**
 * Divides the partitions of all tenants among the rating processes, through a consumer group on an
 * empty topic: each of its partitions stands for a share, so tenants can be added without a
 * rebalance. It only balances load: a range taken by two processes is still rated once, since
 * offsets are in the database (models/usage/log-offset.ts). A process that has not joined a group takes everything.
 */
export class KafkaGroup {
  readonly #settings: KafkaSettings;
  readonly #topics: KafkaTopics;
  readonly #log: Logger;
  readonly #onChange: () => void;
  readonly #watch: NodeJS.Timeout;
  #consumer: Consumer | undefined;
  #joinedAt = 0;
  #joining: Promise<void> | undefined;
  #shares: ReadonlySet<number> | undefined;
  #isClosed = false;

  constructor(
    settings: KafkaSettings,
    topics: KafkaTopics,
    options: { readonly log: Logger; readonly onChange: () => void },
  ) {
    this.#settings = settings;
    this.#topics = topics;
    this.#log = options.log;
    this.#onChange = options.onChange;
    this.#watch = setInterval(() => this.#keepMembership(), watchMs);
    this.#keepMembership();
  }

  /** Whether this process is assigned a partition. */
  owns(tenantId: string, partition: number): boolean {
    return this.#shares?.has(shareOf(tenantId, partition)) ?? true;
  }

  /** Leaves the group, so that its shares are reassigned at once. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#watch);
    if (this.#joining) await atMost(this.#joining, leaveMsMax);
    await this.#leave();
  }

  /** Joins, and rejoins after the group has not answered for longer than the session timeout. */
  #keepMembership(): void {
    const answeredAt = Math.max(this.#joinedAt, this.#consumer?.lastHeartbeat?.getTime() ?? 0);
    const isMember = this.#consumer !== undefined && Date.now() - answeredAt < sessionTimeoutMs;
    if (isMember || this.#joining || this.#isClosed) return;
    this.#joining = this.#leave()
      .then(() => this.#join())
      .catch((error: unknown) => {
        this.#log.warn({ err: error }, 'cannot join the group of Kafka; rating whatever waits');
      })
      .finally(() => {
        this.#joining = undefined;
      });
  }

  async #join(): Promise<void> {
    const topic = prefixed(this.#settings.prefix, 'durabill.shares');
    await this.#topics.ensure(topic, shareCount);
    const { Consumer } = await import('@platformatic/kafka');
    const consumer = new Consumer({
      ...clientOptions(this.#settings, { timeoutMs: requestTimeoutMs, retries: 1 }),
      groupId: prefixed(this.#settings.prefix, 'durabill'),
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: sessionTimeoutMs,
      heartbeatInterval: heartbeatMs,
    });
    consumer.on('error', (error: Error) => {
      this.#log.debug({ err: error }, 'the group of Kafka failed');
    });
    consumer.on('consumer:group:join', ({ assignments = [] }) => {
      if (this.#consumer === consumer) this.#take(assignments);
    });
    this.#consumer = consumer;
    this.#joinedAt = Date.now();
    consumer.topics.track(topic);
    await consumer.joinGroup();
    this.#joinedAt = Date.now();
  }

  #take(assignments: readonly GroupAssignment[]): void {
    this.#shares = new Set(assignments.flatMap(({ partitions }) => partitions));
    this.#log.debug({ shares: this.#shares.size }, 'the group of Kafka has given out shares');
    this.#onChange();
  }

  async #leave(): Promise<void> {
    const consumer = this.#consumer;
    this.#consumer = undefined;
    this.#shares = undefined;
    if (!consumer) return;
    // Leaving a group that does not answer fails; the error changes nothing.
    const left = new Promise<void>((resolve) => consumer.close(true, () => resolve()));
    await atMost(left, leaveMsMax);
  }
}
