/** The topic of a tenant (0-decisions.md section 2.3). */
export const usageTopic = (tenantId: string): string => `usage.${tenantId}`;

/** A usage event as the log keeps it. */
export interface UsageRecord {
  readonly offset: number;
  readonly key: string | null;
  /** The organization of the event (`morgId`). */
  readonly orgId: string | null;
  /** The event as JSON text, with every digit as it came. */
  readonly message: string;
  readonly receivedAt: Date;
}

/** How far a partition of a tenant's topic is filled, or read. */
export interface PartitionOffset {
  readonly partition: number;
  /** The offset after the last one. */
  readonly offset: number;
}

/** What queries read of the log: of one tenant, never of another. */
export interface UsageLogReader {
  /** Where each partition ends; partitions that hold nothing may be missing. */
  ends(tenantId: string): Promise<PartitionOffset[]>;
  /** One record, if the log has it. */
  readOne(tenantId: string, partition: number, offset: number): Promise<UsageRecord | undefined>;
  /**
   * The records from the given offset of each partition on, newest first. `containing` leaves only
   * messages that hold this text.
   */
  readNewest(
    tenantId: string,
    from: readonly PartitionOffset[],
    page: { readonly limit: number; readonly offset: number; readonly containing?: string },
  ): Promise<(UsageRecord & { readonly partition: number })[]>;
}

const partitionsMax = 0x1000;
const low48 = 2 ** 48;

/**
 * The id of the event at a place of the log: a UUIDv7 of the time of arrival, so that ids rise with
 * time, whose random bits are partition and offset. It is known before the event is rated, and leads
 * back to the record (docs/decisions/0040).
 */
export function usageEventId(receivedAt: Date, partition: number, offset: number): string {
  if (partition >= partitionsMax) throw new Error(`Partition ${partition} does not fit an id.`);
  const time = hex(receivedAt.getTime(), 12);
  const high = hex(0x8000 + Math.floor(offset / low48), 4);
  const low = hex(offset % low48, 12);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(partition, 3)}-${high}-${low}`;
}

/** The place of the log that an id names, if it is one of ours. */
export function placeOfUsageEvent(id: string): { partition: number; offset: number } | undefined {
  const match = /^[0-9a-f]{8}-[0-9a-f]{4}-7([0-9a-f]{3})-([89ab][0-9a-f]{3})-([0-9a-f]{12})$/i.exec(
    id,
  );
  if (!match) return undefined;
  const [, partition = '', high = '', low = ''] = match;
  const offset = (Number.parseInt(high, 16) - 0x8000) * low48 + Number.parseInt(low, 16);
  if (!Number.isSafeInteger(offset)) return undefined;
  return { partition: Number.parseInt(partition, 16), offset };
}

/** The lowest id of an event that arrived at this instant or later. */
export function usageEventIdAt(instant: Date): string {
  return usageEventId(instant, 0, 0);
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}
