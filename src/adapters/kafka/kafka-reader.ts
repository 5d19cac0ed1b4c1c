import type { Consumer, KafkaRecord, RecordsBatch } from '@platformatic/kafka';
import type {
  PartitionOffset,
  UsageLogReader,
  UsageRecord,
  UsageSlice,
} from '../../messages/usage-log.js';
import { traceHeader } from '../../messages/trace.js';
import { readCommitted, type Renewed } from './kafka-client.js';
import { newestOf } from './newest-messages.js';
import { orgHeader } from './kafka-publisher.js';
import { isUnknownTopic, kafkaTopic } from './kafka-topics.js';

/** What one read may hold in memory: events of up to 1 MiB may stand in a row. */
const readBytesMax = 8 * 1024 * 1024;
/** The records asked for are there already, so that Kafka never has to wait so long. */
const fetchWaitMs = 100;
const metadataMaxAgeMs = 30_000;

/** Asks for the first offset that Kafka still has. */
const earliest = -2n;

const isTransactional = 1 << 4;
const isControl = 1 << 5;
const hasAppendTime = 1 << 3;

type Fetched = Awaited<ReturnType<Consumer['fetch']>>['responses'][number]['partitions'][number];

/**
 * Reads the Kafka log by offset, without a consumer group: consumer offsets are in the database.
 */
export class KafkaLog implements UsageLogReader {
  readonly #reader: Renewed<Consumer>;
  readonly #prefix: string;

  constructor(reader: Renewed<Consumer>, prefix: string) {
    this.#reader = reader;
    this.#prefix = prefix;
  }

  async read(
    tenantId: string,
    partition: number,
    offset: number,
    end: number,
    bytesMax = readBytesMax,
  ): Promise<UsageSlice> {
    const topic = kafkaTopic(this.#prefix, tenantId);
    const records: UsageRecord[] = [];
    let next = offset;
    for (let bytes = 0; next < end && bytes < bytesMax;) {
      const fetched = await this.#fetch(topic, partition, next, bytesMax - bytes);
      const slice = sliceOf(fetched, next, end);
      for (const record of slice.records) {
        records.push(record);
        bytes += record.message.length;
      }
      if (slice.nextOffset === next) break;
      next = slice.nextOffset;
    }
    return { records, nextOffset: next };
  }

  /** Only retention removes records, the oldest first; any other loss changes the end of a log. */
  async firstKept(tenantId: string, partition: number, offset: number): Promise<number> {
    const [kept] = await this.#firstKept(tenantId, [{ partition, offset }]);
    return kept?.offset ?? offset;
  }

  async #firstKept(
    tenantId: string,
    places: readonly PartitionOffset[],
  ): Promise<PartitionOffset[]> {
    const topic = kafkaTopic(this.#prefix, tenantId);
    const partitions = { [topic]: places.map(({ partition }) => partition) };
    const first = await this.#reader.use((reader) =>
      reader.listOffsets({ topics: [topic], partitions, timestamp: earliest }),
    );
    return places.map(({ partition, offset }) => ({
      partition,
      offset: Math.max(offset, Number(first.get(topic)?.[partition] ?? offset)),
    }));
  }

  /** Of each place one batch is read, or of what is kept after it. */
  async oldestReceipt(tenantId: string, places: readonly PartitionOffset[]): Promise<Date | null> {
    if (places.length === 0) return null;
    const kept = await this.#firstKept(tenantId, places);
    const slices = await Promise.all(
      kept.map(({ partition, offset }) => this.read(tenantId, partition, offset, offset + 1, 1)),
    );
    const times = slices.flatMap(({ records }) => records.map(({ receivedAt }) => +receivedAt));
    return times.length === 0 ? null : new Date(Math.min(...times));
  }

  async ends(tenantId: string): Promise<PartitionOffset[]> {
    const topic = kafkaTopic(this.#prefix, tenantId);
    const offsets = await this.#reader.use(async (reader) =>
      reader
        .listOffsets({ topics: [topic], isolationLevel: readCommitted })
        .catch((error: unknown) => {
          // A tenant that has sent nothing has no topic.
          if (isUnknownTopic(error)) return new Map<string, bigint[]>();
          throw error;
        }),
    );
    return (offsets.get(topic) ?? [])
      .map((offset, partition) => ({ partition, offset: Number(offset) }))
      .filter(({ offset }) => offset > 0);
  }

  async readOne(
    tenantId: string,
    partition: number,
    offset: number,
  ): Promise<UsageRecord | undefined> {
    const ends = await this.ends(tenantId);
    const end = ends.find((each) => each.partition === partition)?.offset ?? 0;
    if (offset >= end) return undefined;
    const { records } = await this.read(tenantId, partition, offset, offset + 1, 1);
    return records[0];
  }

  readNewest: UsageLogReader['readNewest'] = async (tenantId, from, page) => {
    const ends = new Map(
      (await this.ends(tenantId)).map((each) => [each.partition, each.offset] as const),
    );
    const stretches = from.map(({ partition, offset }) => ({
      partition,
      from: offset,
      end: ends.get(partition) ?? 0,
    }));
    return newestOf((...range) => this.read(tenantId, ...range), stretches, page);
  };

  /** Answers with a batch at least, however small `bytesMax` is. */
  async #fetch(
    topic: string,
    partition: number,
    offset: number,
    bytesMax: number,
  ): Promise<Fetched> {
    return this.#reader.use(async (reader) => {
      const { topics } = await reader.metadata({
        topics: [topic],
        metadataMaxAge: metadataMaxAgeMs,
      });
      const { id = '', partitions = [] } = topics.get(topic) ?? {};
      const node = partitions[partition]?.leader;
      if (node === undefined) throw new Error(`${topic} has no partition ${partition}.`);
      const { responses } = await reader.fetch({
        node,
        minBytes: 1,
        maxBytes: bytesMax,
        maxWaitTime: fetchWaitMs,
        isolationLevel: readCommitted,
        topics: [
          {
            topicId: id,
            partitions: [
              {
                partition,
                fetchOffset: BigInt(offset),
                partitionMaxBytes: bytesMax,
                currentLeaderEpoch: -1,
                lastFetchedEpoch: -1,
              },
            ],
          },
        ],
      });
      const fetched = responses[0]?.partitions[0];
      if (!fetched) throw new Error(`Kafka answered nothing of ${topic}, partition ${partition}.`);
      return fetched;
    });
  }
}

/** The events of an answer from `offset` up to `end`: no markers, nothing that was taken back. */
function sliceOf(fetched: Fetched, offset: number, end: number): UsageSlice {
  const records: UsageRecord[] = [];
  let next = offset;
  for (const batch of committed(fetched)) {
    const first = Number(batch.firstOffset);
    if (first >= end) return { records, nextOffset: end };
    if (!batch.isEmpty) {
      for (const record of batch.records) {
        const at = first + record.offsetDelta;
        if (at >= offset && at < end) records.push(usageRecord(batch, record, at));
      }
    }
    next = Math.max(next, Math.min(end, first + batch.lastOffsetDelta + 1));
  }
  return { records, nextOffset: next };
}

/**
 * The batches of an answer in order, those of transactions that were aborted and control batches
 * marked as empty. Our gateway uses no transactions; other producers may.
 */
function committed(fetched: Fetched): (RecordsBatch & { isEmpty: boolean })[] {
  const aborted = [...fetched.abortedTransactions].sort((a, b) =>
    Number(a.firstOffset - b.firstOffset),
  );
  const aborting = new Set<bigint>();
  return (fetched.records ?? []).map((batch) => {
    const last = batch.firstOffset + BigInt(batch.lastOffsetDelta);
    for (let next = aborted[0]; next && next.firstOffset <= last; next = aborted[0]) {
      aborting.add(next.producerId);
      aborted.shift();
    }
    if (batch.attributes & isControl) {
      // The key of a marker: version, then 0 for an abort and 1 for a commit.
      if (batch.records[0]?.key?.readInt16BE(2) === 0) aborting.delete(batch.producerId);
      return { ...batch, isEmpty: true };
    }
    const isAborted = Boolean(batch.attributes & isTransactional) && aborting.has(batch.producerId);
    return { ...batch, isEmpty: isAborted };
  });
}

const headerOf = ({ headers }: KafkaRecord, wanted: string): string | undefined =>
  headers.find(([name]) => name?.toString() === wanted)?.[1]?.toString();

function usageRecord(batch: RecordsBatch, record: KafkaRecord, offset: number): UsageRecord {
  const time =
    batch.attributes & hasAppendTime
      ? batch.maxTimestamp
      : batch.firstTimestamp + record.timestampDelta;
  const header = headerOf(record, orgHeader);
  const text = record.value?.toString() ?? 'null';
  return {
    offset,
    key: record.key?.toString() ?? null,
    orgId: header ?? null,
    trace: headerOf(record, traceHeader) ?? null,
    // Of the gateway it is JSON; of another producer it may be anything, and is then no valid event.
    message: header !== undefined || isJson(text) ? text : JSON.stringify(text),
    receivedAt: new Date(Math.max(0, Number(time))),
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
