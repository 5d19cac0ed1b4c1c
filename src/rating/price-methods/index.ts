import { amount } from './amount.js';
import { flatRate } from './flat-rate.js';
import { noPrice } from './no-price.js';
import { packages } from './packages.js';
import type { PriceMethod } from './price-method.js';
import { quantity } from './quantity.js';
import { tiered } from './tiered.js';
import { volume } from './volume.js';

/** Every price method; row schema, extra-field 400s, OpenAPI and dispatch derive from this array. */
export const priceMethods = [
  flatRate,
  tiered,
  quantity,
  amount,
  noPrice,
  volume,
  packages,
] as const;
export type PriceMethodName = (typeof priceMethods)[number]['name'];

const byName = new Map<string, PriceMethod>(
  // Each method is only ever given rates that its own schema accepted.
  priceMethods.map((method) => [method.name, method as unknown as PriceMethod]),
);

export function findPriceMethod(name: string): PriceMethod | undefined {
  return byName.get(name);
}
