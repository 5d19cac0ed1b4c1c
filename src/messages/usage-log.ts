/** The topic of a tenant (spec/rating.md R68). */
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
  /** The span that published it (W3C `traceparent`), where one did. */
  readonly trace?: string | null;
}

/** A stretch of a partition as it was read. */
export interface UsageSlice {
  readonly records: readonly UsageRecord[];
  /** Where reading goes on: offsets before it that no record here has hold none. */
  readonly nextOffset: number;
}

/** How far a partition of a tenant's topic is filled, or read. */
export interface PartitionOffset {
  readonly partition: number;
  /** The offset after the last one. */
  readonly offset: number;
}

/** Bytes of messages that a page of the newest records may have; it has at least one. */
export const newestBytesMax = 8 * 1024 * 1024;

/** A page of records, newest first. */
export interface NewestRecords {
  readonly records: readonly (UsageRecord & { readonly partition: number })[];
  /** Whether it ended before its limit, because its messages are long. */
  readonly isCut: boolean;
}

/** What queries read of the log: of one tenant, never of another. */
export interface UsageLogReader {
  /** Where each partition ends; partitions that hold nothing may be missing. */
  ends(tenantId: string): Promise<PartitionOffset[]>;
  /** One record, if the log has it. */
  readOne(tenantId: string, partition: number, offset: number): Promise<UsageRecord | undefined>;
  /** When the first of the records at these places was received; null where the log has none of them. */
  oldestReceipt(tenantId: string, places: readonly PartitionOffset[]): Promise<Date | null>;
  /**
   * The records from the given offset of each partition on, newest first: a page that ends early where
   * it would hold more than `newestBytesMax`. `containing` leaves only messages that hold this text.
   */
  readNewest(
    tenantId: string,
    from: readonly PartitionOffset[],
    page: { readonly limit: number; readonly offset: number; readonly containing?: string },
  ): Promise<NewestRecords>;
}

/** An id has 12 bits for the partition, 48 for the offset, and 14 to distinguish charges of one event. */
const partitionsMax = 0x1000;
const offsetsMax = 2 ** 48;
/**
 * Where the copy of a tenant has the events that it was copied with: a partition that no log has
 * (docs/decisions/0383).
 */
export const copiedPartition = partitionsMax - 1;
export const chargesMax = 0x3fff;

/**
 * The id of the event at a place of the log: a UUIDv7 of the time of arrival, so that ids rise with
 * time, whose random bits are partition and offset. It is known before the event is rated, and leads
 * back to the record. The charges of the event have the same id but for their number, counted from 1:
 * so they cannot be written twice, and need no index by event (docs/decisions/0040).
 */
export function usageEventId(receivedAt: Date, partition: number, offset: number): string {
  if (partition >= partitionsMax || offset >= offsetsMax) {
    throw new Error(`Partition ${partition}, offset ${offset} do not fit an id.`);
  }
  const time = hexOf(receivedAt.getTime(), 12);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hexOf(partition, 3)}-8000-${hexOf(offset, 12)}`;
}

/** The id of the n-th charge of an event, counted from 1. */
export function chargeId(eventId: string, number: number): string {
  return `${eventId.slice(0, 19)}${hexOf(0x8000 + number, 4)}${eventId.slice(23)}`;
}

/** Which charge of its event has this id. */
export const numberOfCharge = (id: string): number =>
  Number.parseInt(id.slice(19, 23), 16) - 0x8000;

/** The place of the log that an id names, if it is an event's. */
export function placeOfUsageEvent(id: string): { partition: number; offset: number } | undefined {
  const match = /^[0-9a-f]{8}-[0-9a-f]{4}-7([0-9a-f]{3})-8000-([0-9a-f]{12})$/i.exec(id);
  if (!match) return undefined;
  const [, partition = '', offset = ''] = match;
  return { partition: Number.parseInt(partition, 16), offset: Number.parseInt(offset, 16) };
}

/** The lowest id of an event that arrived at this instant or later. */
export function usageEventIdAt(instant: Date): string {
  return usageEventId(instant, 0, 0);
}

const hexOf = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
