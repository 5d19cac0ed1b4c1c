import type { Admin } from '@platformatic/kafka';
import type { Knex } from 'knex';
import type { Published, UsageBroker } from '../../messages/broker.js';
import type { Database } from '../../platform/database/database.js';
import { firstLine, StartupError } from '../../platform/startup-error.js';
import { acksOfAll, clientOptions, prefixed, Renewed, type KafkaSettings } from './kafka-client.js';
import { KafkaGroup } from './consumer-group.js';
import { KafkaIntake } from './waiting-partitions.js';
import { KafkaLog } from './kafka-reader.js';
import { KafkaPublisher, type TextProducer } from './kafka-publisher.js';
import { KafkaTopics } from './kafka-topics.js';
import type { Listen } from '../../platform/database/listen.js';
import type { Logger } from '../../platform/log.js';
import type { PublishOptions } from '../usage-log/publish-in-groups.js';

export type { KafkaSettings } from './kafka-client.js';

const channel = 'usage_ends';
const requestTimeoutMs = 5_000;
const pingTimeoutMs = 2_000;

/** Where partitions end, as `usage_ends` tells it: tenant, then partition and end. */
type Notice = readonly [string, readonly (readonly [number, number])[]];

/**
 * Notifies the rating processes of published events, so that they need not wait for their next poll
 * of Kafka. Notifications during one are batched; nothing waits for them, and they may fail.
 */
function teller(db: Knex, log: Logger) {
  const ends = new Map<string, Map<number, number>>();
  let isNotifying = false;
  const notify = async (): Promise<void> => {
    isNotifying = true;
    while (ends.size > 0) {
      const notices = [...ends].map(([tenantId, own]): Notice => [tenantId, [...own]]);
      ends.clear();
      await db
        .raw(
          `select pg_notify('${channel}', notice) from jsonb_array_elements_text(?::jsonb) notice`,
          [JSON.stringify(notices.map((notice) => JSON.stringify(notice)))],
        )
        .catch((error: unknown) => log.debug({ err: error }, 'cannot notify what was published'));
    }
    isNotifying = false;
  };
  return (tenantId: string, own: ReadonlyMap<number, number>): void => {
    const known = ends.get(tenantId);
    if (known) for (const [partition, end] of own) known.set(partition, end);
    else ends.set(tenantId, new Map(own));
    if (!isNotifying) void notify();
  };
}

/**
 * The clients of a process, each with its own connections, so that none blocks another. The library
 * is loaded here, since it would delay a start without Kafka by a second.
 */
async function openClients(settings: KafkaSettings, timeoutMs: number) {
  const { Admin, Consumer, Producer, stringSerializers } = await import('@platformatic/kafka');
  const options = (retries: number, limitMs = requestTimeoutMs) =>
    clientOptions(settings, { timeoutMs: limitMs, retries });
  const groupId = prefixed(settings.prefix, 'durabill');
  return {
    admin: new Renewed(() => new Admin(options(1)), requestTimeoutMs),
    reader: new Renewed(() => new Consumer({ ...options(1), groupId }), requestTimeoutMs),
    pinger: new Renewed(() => new Admin(options(0, pingTimeoutMs)), pingTimeoutMs),
    producer: new Renewed(
      (): TextProducer =>
        new Producer({
          ...options(3, timeoutMs),
          idempotent: true,
          acks: acksOfAll,
          serializers: stringSerializers,
        }),
      timeoutMs,
    ),
  };
}

/** The id of the cluster; throws a startup error if no broker answers. */
async function clusterOf(admin: Renewed<Admin>, { brokers }: KafkaSettings): Promise<string> {
  try {
    return (await admin.use((client) => client.metadata({ topics: [], forceUpdate: true }))).id;
  } catch (error) {
    throw new StartupError(
      `Cannot reach Kafka at KAFKA_BROKERS ${brokers.join(',')}: ${firstLine(error)}.`,
    );
  }
}

/** The usage log in Apache Kafka: a topic for each tenant (docs/decisions/0130 to 0133). */
export async function openKafkaBroker(
  settings: KafkaSettings,
  database: Database,
  listen: Listen,
  options: PublishOptions,
): Promise<UsageBroker & { readonly cluster: string }> {
  const { log } = options;
  const { prefix } = settings;
  const clients = await openClients(settings, options.timeoutMs);
  const { admin, reader, pinger, producer } = clients;
  const cluster = await clusterOf(admin, settings);
  const topics = new KafkaTopics(admin, settings);
  const usageLog = new KafkaLog(reader, prefix);
  const publisher = new KafkaPublisher(
    { producer, topics, prefix, onPublished: teller(database.platform, log) },
    options,
  );
  return {
    cluster,
    keepsMessages: false,
    publishAll: (messages) => publisher.publishAll(messages),
    async publish(message) {
      const [published] = await publisher.publishAll([message]);
      return published as Published;
    },
    read: (...range) => usageLog.read(...range),
    firstKept: (...place) => usageLog.firstKept(...place),
    ends: (tenantId) => usageLog.ends(tenantId),
    readOne: (...place) => usageLog.readOne(...place),
    oldestReceipt: (...places) => usageLog.oldestReceipt(...places),
    readNewest: usageLog.readNewest,
    async openIntake(onPublished) {
      const group = new KafkaGroup(settings, topics, { log, onChange: onPublished });
      const intake = new KafkaIntake({ database, admin, reader, group, prefix, log });
      const stop = await listen(channel, (payload) => {
        if (payload === '') intake.expire();
        else intake.onNotice(...(JSON.parse(payload) as Notice));
        onPublished();
      });
      return {
        waiting: () => intake.waiting(),
        async close() {
          await Promise.all([stop(), intake.close()]);
        },
      };
    },
    async ping() {
      await pinger.use((client) => client.metadata({ topics: [], forceUpdate: true }));
    },
    close() {
      for (const client of Object.values(clients)) client.close();
      return Promise.resolve();
    },
  };
}
