import type { ImportedPrice } from './book.js';

/** A price that all who have one of a meter and currency share is everybody's. */
export function shareSamePrices(prices: readonly ImportedPrice[]): ImportedPrice[] {
  const groups = new Map<string, ImportedPrice[]>();
  for (const price of prices) {
    const key = JSON.stringify([price.meter, price.currency]);
    const group = groups.get(key);
    if (group) group.push(price);
    else groups.set(key, [price]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    const ofAll = (price: ImportedPrice): string => JSON.stringify({ ...price, customer: null });
    const isShared = first && group.every((price) => ofAll(price) === ofAll(first));
    return isShared ? [{ ...first, customer: null }] : group;
  });
}
