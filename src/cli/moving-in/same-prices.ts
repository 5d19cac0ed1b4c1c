import type { ImportedPrice } from './book.js';

/**
 * A price that all who have one of a meter and currency share is everybody's. Who has the same price
 * twice, by two subscriptions, has it once.
 */
export function shareSamePrices(prices: readonly ImportedPrice[]): ImportedPrice[] {
  const groups = new Map<string, Map<string, ImportedPrice>>();
  for (const price of prices) {
    const key = JSON.stringify([price.meter, price.currency]);
    const group = groups.get(key) ?? new Map<string, ImportedPrice>();
    const own = JSON.stringify({ ...price, place: '' });
    if (!group.has(own)) group.set(own, price);
    groups.set(key, group);
  }
  return [...groups.values()].flatMap((group) => {
    const [first, ...others] = group.values();
    const ofAll = (price: ImportedPrice): string =>
      JSON.stringify({ ...price, place: '', customer: null });
    const isShared = first && others.every((price) => ofAll(price) === ofAll(first));
    return isShared ? [{ ...first, customer: null }] : [...group.values()];
  });
}
