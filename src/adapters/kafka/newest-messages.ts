import {
  newestBytesMax,
  type NewestRecords,
  type UsageLogReader,
  type UsageRecord,
  type UsageSlice,
} from '../../messages/usage-log.js';

/** A part of a partition, `end` not included. */
interface Stretch {
  readonly partition: number;
  readonly from: number;
  readonly end: number;
}

type Read = (partition: number, offset: number, end: number) => Promise<UsageSlice>;
type Found = UsageRecord & { readonly partition: number };
type Page = Parameters<UsageLogReader['readNewest']>[2];

/** Offsets that are read at once on the way back: a page at least, and not too much memory. */
const pageOffsetsMax = 100;
const searchOffsets = 1_000;
/** Bytes of messages that are kept of what was read at once: a topic has several partitions. */
const keptBytesMax = 2 * 1024 * 1024;

/** Reads a partition from its end back to where it was consumed. */
class Backwards {
  readonly #read: Read;
  readonly #stretch: Stretch;
  readonly #containing: string | undefined;
  readonly #stepMax: number;
  #step: number;
  #low: number;
  /** Oldest first. */
  #found: Found[] = [];
  /** Of the messages of those that were found. */
  #bytes = 0;

  constructor(read: Read, stretch: Stretch, { limit, offset, containing }: Page) {
    this.#read = read;
    this.#stretch = stretch;
    this.#containing = containing;
    this.#low = stretch.end;
    this.#stepMax =
      containing === undefined ? Math.min(limit + offset, pageOffsetsMax) : searchOffsets;
    this.#step = this.#stepMax;
  }

  get head(): Found | undefined {
    return this.#found.at(-1);
  }

  take(): Found | undefined {
    const found = this.#found.pop();
    this.#bytes -= found?.message.length ?? 0;
    return found;
  }

  /** Reads until there is a head, or nothing more. */
  async fill(): Promise<void> {
    const { partition, from } = this.#stretch;
    while (this.#found.length === 0 && this.#low > from) {
      const end = this.#low;
      this.#step = Math.min(2 * this.#step, this.#stepMax);
      this.#low = Math.max(from, end - this.#step);
      for (let next = this.#low; next < end;) {
        const { records, nextOffset } = await this.#read(partition, next, end);
        if (nextOffset === next) break;
        next = nextOffset;
        for (const record of records) {
          const isWanted =
            this.#containing === undefined || record.message.includes(this.#containing);
          if (isWanted) this.#keep({ ...record, partition });
        }
      }
    }
  }

  /** Keeps a record; what is older is read once more later, where the messages are long. */
  #keep(record: Found): void {
    this.#found.push(record);
    this.#bytes += record.message.length;
    while (this.#bytes > keptBytesMax && this.#found.length > 1) {
      this.#bytes -= this.#found.shift()?.message.length ?? 0;
      this.#low = this.#found[0]?.offset ?? this.#low;
      this.#step = this.#found.length;
    }
  }
}

const isNewer = (a: Found, b: Found): boolean => {
  const byTime = a.receivedAt.getTime() - b.receivedAt.getTime();
  return byTime === 0 ? a.partition > b.partition : byTime > 0;
};

/** A page of what the stretches hold, newest first: a merge that reads no further than it must. */
export async function newestOf(
  read: Read,
  stretches: readonly Stretch[],
  page: Page,
): Promise<NewestRecords> {
  const cursors = stretches.map((stretch) => new Backwards(read, stretch, page));
  await Promise.all(cursors.map((cursor) => cursor.fill()));
  const found: Found[] = [];
  let bytes = 0;
  for (let passed = 0; found.length < page.limit; passed += 1) {
    let newest: Backwards | undefined;
    for (const cursor of cursors) {
      if (cursor.head && (!newest?.head || isNewer(cursor.head, newest.head))) newest = cursor;
    }
    const record = newest?.take();
    if (!newest || !record) break;
    if (passed >= page.offset) {
      bytes += record.message.length;
      if (found.length > 0 && bytes > newestBytesMax) return { records: found, isCut: true };
      found.push(record);
    }
    await newest.fill();
  }
  return { records: found, isCut: false };
}
