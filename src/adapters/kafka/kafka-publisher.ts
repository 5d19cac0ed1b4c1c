import type { Producer } from '@platformatic/kafka';
import { traceHeader } from '../../messages/trace.js';
import { usageTopic } from '../../messages/usage-log.js';
import type { Published, UsageMessage } from '../../messages/broker.js';
import { partitionOf } from '../../messages/usage/log-partition.js';
import { inGroups, type PublishOptions } from '../usage-log/publish-in-groups.js';
import { acksOfAll, type Renewed } from './kafka-client.js';
import { kafkaTopic, type KafkaTopics } from './kafka-topics.js';

/** What one produce of a topic may carry; a batch of a partition must stay below 2 MiB. */
const groupMessagesMax = 2_000;
const groupBytesMax = 1_024 * 1_024;

/** The organization of an event, which is not part of its message. */
export const orgHeader = 'morgId';

const headersOf = ({ orgId, trace }: UsageMessage): Record<string, string> => ({
  ...(orgId === null ? {} : { [orgHeader]: orgId }),
  ...(trace === undefined || trace === null ? {} : { [traceHeader]: trace }),
});

/** Texts are sent as they are. */
export type TextProducer = Producer<string, string, string, string>;

interface PublisherParts {
  readonly producer: Renewed<TextProducer>;
  readonly topics: KafkaTopics;
  readonly prefix: string;
  /** Called with the new ends of partitions. */
  readonly onPublished: (tenantId: string, ends: ReadonlyMap<number, number>) => void;
}

/**
 * Publishes in groups, one after the other in each topic: the library assigns sequence numbers to
 * the batches of a partition only after their predecessors are acknowledged. After a failed group
 * the producer is replaced, so that no sequence number is used for two batches, of which Kafka
 * would drop one.
 */
export class KafkaPublisher {
  readonly #parts: PublisherParts;
  readonly #options: PublishOptions;
  readonly #ofTenant = new Map<
    string,
    (messages: readonly UsageMessage[]) => Promise<Published[]>
  >();

  constructor(parts: PublisherParts, options: PublishOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  async publishAll(messages: readonly UsageMessage[]): Promise<Published[]> {
    const byTenant = new Map<string, number[]>();
    for (const [index, { tenantId }] of messages.entries()) {
      const indexes = byTenant.get(tenantId);
      if (indexes) indexes.push(index);
      else byTenant.set(tenantId, [index]);
    }
    const all: Published[] = [];
    await Promise.all(
      [...byTenant].map(async ([tenantId, indexes]) => {
        const own = indexes.map((index) => messages[index] as UsageMessage);
        const published = await this.#publisherOf(tenantId)(own);
        for (const [at, index] of indexes.entries()) all[index] = published[at] as Published;
      }),
    );
    return all;
  }

  #publisherOf(tenantId: string) {
    let publish = this.#ofTenant.get(tenantId);
    if (!publish) {
      publish = inGroups((messages) => this.#send(tenantId, messages), {
        messagesMax: groupMessagesMax,
        bytesMax: groupBytesMax,
        ...this.#options,
      });
      this.#ofTenant.set(tenantId, publish);
    }
    return publish;
  }

  async #send(tenantId: string, messages: readonly UsageMessage[]): Promise<Published[]> {
    const { producer, topics, prefix, onPublished } = this.#parts;
    const topic = kafkaTopic(prefix, tenantId);
    await topics.ensure(topic);
    const partitions = messages.map(({ partitionKey }) => partitionOf(partitionKey));
    const { offsets = [] } = await producer
      .use((client) =>
        client.send({
          acks: acksOfAll,
          messages: messages.map((each, index) => ({
            topic,
            partition: partitions[index] as number,
            value: each.message,
            ...(each.key === null ? {} : { key: each.key }),
            headers: headersOf(each),
          })),
        }),
      )
      .catch((error: unknown) => {
        topics.forget(topic);
        throw error;
      });
    const next = new Map(offsets.map((each) => [each.partition, Number(each.offset)]));
    const published = partitions.map((partition) => {
      const offset = next.get(partition);
      if (offset === undefined || offset < 0) {
        throw new Error(`Kafka told no offset for partition ${partition} of ${topic}.`);
      }
      next.set(partition, offset + 1);
      return { topic: usageTopic(tenantId), partition, offset };
    });
    onPublished(tenantId, next);
    return published;
  }
}
