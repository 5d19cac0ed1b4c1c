import { stringifyJson } from '../../kernel/text/json.js';
import type { UsageLine } from '../usage/usage-file.js';
import { demoService } from './demo-catalog.js';

/** The customers, services and usage of `durabill demo --year`: the same in every run. */

const customers = [
  'Acme Inc.',
  'Birch & Sons',
  'Cobalt Labs',
  'Delta Freight',
  'Ember Games',
  'Fjord Shipping',
  'Granite Bank',
  'Harbor Foods',
  'Indigo Media',
  'Juniper Health',
  'Kestrel Air',
  'Lumen Energy',
] as const;

const externalIdOf = (name: string): string => name.split(/[ .]/)[0]?.toLowerCase() ?? name;

export const yearAccounts = customers.map((name) => ({
  name,
  externalId: externalIdOf(name),
  billingDay: 1,
  netTerm: 'Net 30',
  defaultCurrency: 'USD',
  addresses: [{ line1: '1 Main Street', city: 'Springfield', country: 'US' }],
}));

const storage = {
  name: 'Storage',
  code: 'storage',
  currency: 'USD',
  serviceType: 'Usage',
  priceableAttributes: [{ name: 'gigabytes', label: 'Gigabytes', dimensionDataType: 'Number' }],
  rateCards: [
    {
      currency: 'USD',
      rows: [
        {
          priceDimName: 'gigabytes',
          label: 'Storage, list price',
          priceMethod: 'QUANTITY',
          unitRate: 0.04,
        },
      ],
    },
  ],
};

export const yearServices = [demoService, storage] as const;

export const yearContract = (
  { name }: { readonly name: string },
  masterAccountId: string,
  serviceIds: readonly string[],
  startDate: string,
) => ({
  name: `${name} from ${startDate}`,
  masterAccountId,
  currency: 'USD',
  startDate,
  services: serviceIds.map((serviceId) => ({
    serviceId,
    serviceInstanceId: 'prod',
    startDate,
    chargeFrequency: 'Monthly',
    billingFrequency: 'Monthly',
  })),
});

/**
 * Numbers that look like chance, the same in every run: fractional parts of multiples of a root.
 * Those of two primes have nothing to do with each other.
 */
const chance = (n: number, prime: number): number => (n * Math.sqrt(prime)) % 1;

/** Usage grows over the year: of a curve that rises, the instant by which this share has come. */
const growth = 0.75;

/** One in so many events names a customer that is not there, so that something is rejected. */
const strayEvery = 1_000;

/** So many events between two instants, in the order of their time. */
export function* yearUsage(
  [calls, gigabytes]: readonly string[],
  count: number,
  { from, to }: { readonly from: number; readonly to: number },
): Generator<UsageLine> {
  for (let n = 0; n < count; n += 1) {
    const at = from + (to - from) * ((n + 0.5) / count) ** growth;
    // Large customers use more often than small ones.
    const customer = customers[Math.floor(chance(n, 2) ** 2 * customers.length)] ?? customers[0];
    const isStray = n % strayEvery === strayEvery - 1;
    const ofStorage = chance(n, 3) < 0.25;
    const id = `year-${String(n + 1).padStart(6, '0')}`;
    const message = {
      externalTransactionId: id,
      serviceId: ofStorage ? gigabytes : calls,
      serviceInstanceId: 'prod',
      eventTimestamp: new Date(Math.floor(at)).toISOString(),
      billingAccountRef: isStray ? 'nobody' : externalIdOf(customer),
      dimensions: ofStorage
        ? { gigabytes: String(1 + Math.floor(chance(n, 5) * 50)) }
        : {
            api_calls: String(1 + Math.floor(chance(n, 7) * 400)),
            priority: '1',
            region: chance(n, 11) < 0.5 ? 'eu' : 'us',
          },
    };
    yield { line: n + 1, body: stringifyJson({ key: message.billingAccountRef, message }) };
  }
}
