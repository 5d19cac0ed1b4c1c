import type { Admin, Consumer } from '@platformatic/kafka';
import { arrayLiteral } from '../../kernel/text/postgres-array.js';
import type { UsageIntake, WaitingPartition } from '../../messages/broker.js';
import { partitionCount } from '../../messages/usage/log-partition.js';
import { CellAsker } from '../../platform/cells/ask-cells.js';
import type { Cell } from '../../platform/database/cell.js';
import type { Database } from '../../platform/database/database.js';
import type { Logger } from '../../platform/log.js';
import { readCommitted, type Renewed } from './kafka-client.js';
import type { KafkaGroup } from './consumer-group.js';
import { kafkaTopic, tenantOfTopic } from './kafka-topics.js';

/** Interval of polling Kafka for ends that no notification announced. */
const endsAgeMs = 1_000;
const topicsAgeMs = 5_000;
/** Interval of reading all consumer offsets from the database, not only those that seem to lag. */
const consumedAgeMs = 30_000;

interface IntakeParts {
  readonly database: Database;
  readonly admin: Renewed<Admin>;
  readonly reader: Renewed<Consumer>;
  readonly group: KafkaGroup;
  readonly prefix: string;
  readonly log: Logger;
}

interface Place {
  readonly tenantId: string;
  readonly partition: number;
}

const keyOf = ({ tenantId, partition }: Place): string => `${partition}/${tenantId}`;

async function readConsumed(
  { platform }: Cell,
  places: readonly Place[],
): Promise<readonly (readonly [string, number])[]> {
  const { rows } = await platform.raw<{ rows: { next_offset: string }[] }>(
    `select coalesce(consumer.next_offset, 0) as next_offset
     from unnest(?::text[], ?::int[]) with ordinality as place (tenant_id, partition, number)
       left join usage_consumer as consumer using (tenant_id, partition)
     order by number`,
    [
      arrayLiteral(
        places.map(({ tenantId }) => tenantId),
        true,
      ),
      arrayLiteral(places.map(({ partition }) => partition)),
    ],
  );
  return places.map((place, index) => [keyOf(place), Number(rows[index]?.next_offset ?? 0)]);
}

/**
 * The waiting events of this process's partitions. Ends of partitions come from notifications of
 * publishing processes, and from polling Kafka each second; consumer offsets come from the
 * database, for partitions that seem to lag only.
 */
export class KafkaIntake implements UsageIntake {
  readonly #parts: IntakeParts;
  readonly #asker: CellAsker;
  readonly #ends = new Map<string, Place & { end: number }>();
  /** Lower bounds: consumer offsets only increase. */
  readonly #consumed = new Map<string, number>();
  readonly #cut = new Set<string>();
  #tenantIds: readonly string[] = [];
  #endsAt = 0;
  #topicsAt = 0;
  #consumedAt = 0;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
    this.#asker = new CellAsker(parts.database.cells, {
      log: parts.log,
      failure: 'a cell does not say how far usage is rated; going on without it',
    });
  }

  /** Called with the ends of a tenant's partitions that a process has published to. */
  onNotice(tenantId: string, ends: readonly (readonly [number, number])[]): void {
    for (const [partition, end] of ends) this.#learn({ tenantId, partition }, end);
  }

  /** Makes the next search poll Kafka. */
  expire(): void {
    this.#endsAt = 0;
    this.#topicsAt = 0;
  }

  async waiting(): Promise<WaitingPartition[]> {
    const now = Date.now();
    if (now - this.#endsAt >= endsAgeMs) await this.#askKafka(now);
    if (now - this.#consumedAt >= consumedAgeMs) {
      this.#consumed.clear();
      this.#consumedAt = now;
    }
    const { group } = this.#parts;
    const candidates = [...this.#ends.values()].filter(
      (each) =>
        each.end > (this.#consumed.get(keyOf(each)) ?? 0) &&
        group.owns(each.tenantId, each.partition),
    );
    if (candidates.length === 0) return [];
    const offsets = await this.#findConsumed(candidates);
    return candidates.flatMap(({ tenantId, partition, end }) => {
      const key = keyOf({ tenantId, partition });
      const offset = offsets.get(key);
      // Its cell does not answer.
      if (offset === undefined) return [];
      this.#consumed.set(key, offset);
      this.#logCut(key, offset, end);
      return offset < end ? [{ tenantId, partition, offset, end }] : [];
    });
  }

  async close(): Promise<void> {
    await this.#parts.group.close();
  }

  #learn(place: Place, end: number): void {
    const key = keyOf(place);
    const known = this.#ends.get(key);
    if (known) known.end = Math.max(known.end, end);
    else this.#ends.set(key, { ...place, end });
  }

  async #askKafka(now: number): Promise<void> {
    const { admin, reader, prefix, group } = this.#parts;
    if (now - this.#topicsAt >= topicsAgeMs) {
      const topics = await admin.use((client) => client.listTopics());
      this.#tenantIds = topics.flatMap((topic) => tenantOfTopic(prefix, topic) ?? []);
      this.#topicsAt = now;
    }
    const partitions: Record<string, number[]> = {};
    for (const tenantId of this.#tenantIds) {
      const own = Array.from({ length: partitionCount }, (_none, partition) => partition).filter(
        (partition) => group.owns(tenantId, partition),
      );
      if (own.length > 0) partitions[kafkaTopic(prefix, tenantId)] = own;
    }
    const topics = Object.keys(partitions);
    if (topics.length > 0) {
      const offsets = await reader
        .use((client) => client.listOffsets({ topics, partitions, isolationLevel: readCommitted }))
        .catch((error: unknown) => {
          // One that was deleted meanwhile must not hide the others for long.
          this.#topicsAt = 0;
          throw error;
        });
      this.#learnAll(offsets);
    }
    this.#endsAt = now;
  }

  #learnAll(offsets: ReadonlyMap<string, readonly (bigint | undefined)[]>): void {
    for (const [topic, ends] of offsets) {
      const tenantId = tenantOfTopic(this.#parts.prefix, topic);
      if (tenantId === undefined) continue;
      for (const [partition, end] of ends.entries()) {
        // Partitions that were not asked for are holes in the array.
        if (end !== undefined && end > 0n) this.#learn({ tenantId, partition }, Number(end));
      }
    }
  }

  /** Consumer offsets by key; without those of cells that do not answer. */
  async #findConsumed(places: readonly Place[]): Promise<ReadonlyMap<string, number>> {
    const byCell = new Map<Cell, Place[]>();
    for (const place of places) {
      const cell = await this.#cellOf(place.tenantId);
      if (cell === undefined) continue;
      const own = byCell.get(cell);
      if (own) own.push(place);
      else byCell.set(cell, [place]);
    }
    const found = await this.#asker.ask([...byCell.keys()], (cell) =>
      readConsumed(cell, byCell.get(cell) ?? []),
    );
    return new Map(found.flatMap(({ answer }) => [...answer]));
  }

  /** The cell of a tenant; undefined where nobody can say at the moment. */
  async #cellOf(tenantId: string): Promise<Cell | undefined> {
    const { database, log } = this.#parts;
    try {
      return await database.cellOf(tenantId);
    } catch (error) {
      log.warn({ err: error, tenantId }, 'cannot look up the cell of a tenant; trying again');
      return undefined;
    }
  }

  /** A log that ends before the consumer offset has lost events, or is another log. */
  #logCut(key: string, offset: number, end: number): void {
    if (offset <= end || this.#cut.has(key)) return;
    this.#cut.add(key);
    this.#parts.log.error(
      { partition: key, consumed: offset, end },
      'the log of Kafka ends before what was rated: it has lost events; new ones there are not rated',
    );
  }
}
