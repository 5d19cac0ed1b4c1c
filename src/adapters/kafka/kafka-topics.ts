import type { Admin } from '@platformatic/kafka';
import { defined } from '../../kernel/defined.js';
import { usageTopic } from '../../messages/usage-log.js';
import { partitionCount } from '../../messages/usage/log-partition.js';
import { hasApiId, prefixed, type KafkaSettings, type Renewed } from './kafka-client.js';

/** A body of 1 MiB with what Kafka puts around it does not fit Kafka's own 1 MiB. */
const messageBytesMax = 2 * 1024 * 1024;
/** A topic that was just made is known to all brokers within moments. */
const visibleTries = 20;
const visibleDelayMs = 50;

/**
 * Kafka takes no two topics that differ only in `.` and `_`, since they would be one in its metrics;
 * tenants may differ so. Hence a dot of a tenant's id stands as `_2e`, and an underscore that could
 * be read as the beginning of such a code as `_5f`.
 */
function encode(tenantId: string): string {
  return tenantId.replace(/_(?=[0-9a-f]{2})/g, '_5f').replaceAll('.', '_2e');
}

function decode(name: string): string {
  return name.replace(/_(5f|2e)/g, (_whole, code) => (code === '2e' ? '.' : '_'));
}

/** The topic of Kafka that holds the usage of a tenant. */
export const kafkaTopic = (prefix: string, tenantId: string): string =>
  prefixed(prefix, usageTopic(encode(tenantId)));

/** The tenant of a topic of Kafka, if it is one of ours. */
export function tenantOfTopic(prefix: string, topic: string): string | undefined {
  const start = prefixed(prefix, usageTopic(''));
  if (!topic.startsWith(start)) return undefined;
  const tenantId = decode(topic.slice(start.length));
  return kafkaTopic(prefix, tenantId) === topic ? tenantId : undefined;
}

/** Makes topics when they are first needed, and remembers which are there. */
export class KafkaTopics {
  readonly #admin: Renewed<Admin>;
  readonly #settings: KafkaSettings;
  readonly #known = new Map<string, Promise<void>>();

  constructor(admin: Renewed<Admin>, settings: KafkaSettings) {
    this.#admin = admin;
    this.#settings = settings;
  }

  /** Resolves when the topic can be written to; makes it with so many partitions if it is missing. */
  ensure(topic: string, partitions: number = partitionCount): Promise<void> {
    const known = this.#known.get(topic);
    if (known) return known;
    const making = this.#admin.use((admin) => this.#make(admin, topic, partitions));
    this.#known.set(topic, making);
    making.catch(() => this.forget(topic));
    return making;
  }

  /** Looks again at the next use: the topic may have been deleted. */
  forget(topic: string): void {
    this.#known.delete(topic);
  }

  async #make(admin: Admin, topic: string, partitions: number): Promise<void> {
    const there = await partitionsOf(admin, topic);
    if (there === undefined) {
      await this.#create(admin, topic, partitions);
      await untilVisible(admin, topic);
    } else if (there < partitions) {
      throw new Error(`The topic ${topic} has ${there} partitions: it must have ${partitions}.`);
    }
  }

  async #create(admin: Admin, topic: string, partitions: number): Promise<void> {
    const { replication, retentionHours } = this.#settings;
    const retentionMs = retentionHours === undefined ? -1 : retentionHours * 3_600_000;
    const configs = {
      'cleanup.policy': 'delete',
      'max.message.bytes': String(messageBytesMax),
      // The broker's clock: brokers refuse the time of a producer whose clock is an hour ahead.
      'message.timestamp.type': 'LogAppendTime',
      'retention.ms': String(retentionMs),
      'retention.bytes': '-1',
    };
    try {
      await admin.createTopics({
        topics: [topic],
        partitions,
        ...defined({ replicas: replication }),
        configs: Object.entries(configs).map(([name, value]) => ({ name, value })),
      });
    } catch (error) {
      // Another process was faster.
      if (!hasApiId(error, 'TOPIC_ALREADY_EXISTS')) throw error;
    }
  }
}

async function partitionsOf(admin: Admin, topic: string): Promise<number | undefined> {
  try {
    const { topics } = await admin.metadata({ topics: [topic], forceUpdate: true });
    return topics.get(topic)?.partitionsCount;
  } catch (error) {
    if (isUnknownTopic(error)) return undefined;
    throw error;
  }
}

/** The library tells of a missing topic by a message only. */
export const isUnknownTopic = (error: unknown): boolean =>
  error instanceof Error &&
  (error.message.startsWith('Unknown topic') || hasApiId(error, 'UNKNOWN_TOPIC_OR_PARTITION'));

async function untilVisible(admin: Admin, topic: string): Promise<void> {
  for (let tries = 0; tries < visibleTries; tries += 1) {
    if ((await partitionsOf(admin, topic)) !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, visibleDelayMs));
  }
  throw new Error(`The topic ${topic} was made, but no broker knows it.`);
}
