import { Portions } from '../../kernel/portions.js';

/** Bytes of items, beside explanations, that one answer or event may have (docs/decisions/0313). */
export const itemBytesMax = 15 * 1024 * 1024;

/** Names, ids, numbers and dates of an item; no item has less. */
const itemBytes = 900;
const tierBytes = 250;

/** More items than this never fit into one answer. */
export const itemsMax = Math.ceil(itemBytesMax / itemBytes);

interface Weighed {
  readonly description: string | null;
  readonly serviceName: string | null;
  readonly serviceCode: string | null;
  readonly unit: string | null;
  readonly tiers: readonly unknown[] | null;
}

/** About how many bytes an item takes in an answer. */
export const weightOf = ({ tiers, ...item }: Weighed): number => {
  const texts = [item.description, item.serviceName, item.serviceCode, item.unit];
  return itemBytes + Buffer.byteLength(JSON.stringify(texts)) + tierBytes * (tiers?.length ?? 0);
};

/**
 * The longest prefix of items that together have at most `max` bytes. It has at least one item, so
 * that paging always advances.
 */
export async function takeUntilHeavy<T>(
  items: readonly T[],
  weigh: (item: T) => number,
  max: number,
): Promise<readonly T[]> {
  let weight = 0;
  const portions = new Portions();
  for (const [index, item] of items.entries()) {
    weight += weigh(item);
    if (index > 0 && weight > max) return items.slice(0, index);
    if (portions.isOver) await portions.rest();
  }
  return items;
}

/**
 * The items from `offset` on that fit into one answer, and the offset of the next ones; null: there
 * are none.
 */
export async function pageOfItems<T extends Weighed>(
  items: readonly T[],
  offset: number,
  count: number,
  max = itemBytesMax,
): Promise<{ readonly page: readonly T[]; readonly next: number | null }> {
  const page = await takeUntilHeavy(items, weightOf, max);
  const end = offset + page.length;
  return { page, next: page.length > 0 && end < count ? end : null };
}
