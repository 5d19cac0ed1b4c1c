import type { ApiClient } from './api-client.js';
import {
  bookJson,
  isMetered,
  quantityAttribute,
  saysSame,
  type ImportedPrice,
  type RateRow,
} from './book.js';

const base = '/api/v1/external';

type Rows = ReadonlyMap<ImportedPrice, RateRow>;

interface Card {
  readonly currency: string;
  readonly rows: readonly unknown[];
}

interface Contract {
  readonly id: string;
  readonly services: readonly { readonly id: string; readonly serviceId: string }[];
}

interface Attribute {
  readonly name: string;
  readonly isMeterDimension: boolean;
}

interface Service {
  readonly id: string;
  readonly priceableAttributes: readonly Attribute[];
}

/** Makes what prices of another system become, but for what is there. */
class PriceMaker {
  readonly services = new Map<string, string>();
  /** Prices that are others here, with their places. */
  readonly kept: string[] = [];
  readonly #api: ApiClient;
  readonly #rows: Rows;

  constructor(api: ApiClient, rows: Rows) {
    this.#api = api;
    this.#rows = rows;
  }

  #cardOf(price: ImportedPrice): Card {
    return { currency: price.currency, rows: [this.#rows.get(price)] };
  }

  #keep({ place, meter, currency, customer }: ImportedPrice, what: string): void {
    const whose = customer === null ? '' : ` for '${customer}'`;
    this.kept.push(`${place}: '${meter}' in ${currency}${whose} ${what}`);
  }

  /** Makes the card of a price, unless there is one; `collection` is the path of the cards. */
  async #makeCard(collection: string, price: ImportedPrice): Promise<void> {
    const card = await this.#api.find<Card>(`${collection}/${price.currency}`);
    if (card === null) {
      await this.#api.post(collection, bookJson(this.#cardOf(price)));
      return;
    }
    const [row] = card.rows;
    if (card.rows.length === 1 && saysSame(this.#rows.get(price), row)) return;
    this.#keep(price, 'has another price here: make a version of its card with a date');
  }

  /** A service for a meter, with the prices that are everybody's. */
  async makeService(meter: string, own: readonly ImportedPrice[]): Promise<void> {
    const path = `${base}/services/${encodeURIComponent(meter)}`;
    const shared = own.filter(({ customer }) => customer === null);
    const known = await this.#api.find<Service>(path);
    if (known === null) {
      const meters = { isMeterDimension: true, meterResetFrequency: 'Monthly' };
      const body = {
        name: meter,
        currency: own[0]?.currency,
        priceableAttributes: [
          {
            name: quantityAttribute,
            dimensionDataType: 'Number',
            ...(own.some(isMetered) ? meters : {}),
          },
        ],
        rateCards: shared.map((price) => this.#cardOf(price)),
      };
      const made = await this.#api.post<{ id: string }>(`${base}/services`, bookJson(body));
      this.services.set(meter, made.id);
      return;
    }
    this.services.set(meter, known.id);
    const attribute = known.priceableAttributes.find(({ name }) => name === quantityAttribute);
    for (const price of own.filter(isMetered)) {
      if (attribute?.isMeterDimension === true) continue;
      this.#keep(price, 'has no meter here: its tiers and packages are those of each event alone');
    }
    for (const price of shared) await this.#makeCard(`${path}/rate-cards`, price);
  }

  /** A contract for a customer and currency with prices of its own, with a line for each of them. */
  async makeContract(number: string, own: readonly ImportedPrice[]): Promise<void> {
    const path = `${base}/contracts/${encodeURIComponent(number)}`;
    const lineOf = (price: ImportedPrice) => ({
      serviceId: this.services.get(price.meter),
      rateCards: [this.#cardOf(price)],
    });
    const [first] = own;
    const known = await this.#api.find<Contract>(path);
    if (known === null) {
      const body = {
        number,
        name: number,
        masterAccountId: first?.customer,
        currency: first?.currency,
        services: own.map(lineOf),
      };
      await this.#api.post(`${base}/contracts`, bookJson(body));
      return;
    }
    for (const price of own) {
      const serviceId = this.services.get(price.meter);
      const line = known.services.find((each) => each.serviceId === serviceId);
      if (line) await this.#makeCard(`${path}/services/${line.id}/rate-cards`, price);
      else await this.#api.post(`${path}/services`, bookJson(lineOf(price)));
    }
  }
}

/** Prices by a name; those without one are left out. */
function grouped(
  prices: readonly ImportedPrice[],
  nameOf: (price: ImportedPrice) => string | null,
): ReadonlyMap<string, readonly ImportedPrice[]> {
  const groups = new Map<string, ImportedPrice[]>();
  for (const price of prices) {
    const name = nameOf(price);
    if (name !== null) groups.set(name, [...(groups.get(name) ?? []), price]);
  }
  return groups;
}

/**
 * Makes services and contracts of prices, as far as they are not there. Returns the services by meter,
 * and which prices are others here: they stay, for usage may be rated with them.
 */
export async function makePrices(
  api: ApiClient,
  prices: readonly ImportedPrice[],
  rows: Rows,
): Promise<Pick<PriceMaker, 'services' | 'kept'>> {
  const maker = new PriceMaker(api, rows);
  for (const [meter, own] of grouped(prices, (price) => price.meter)) {
    await maker.makeService(meter, own);
  }
  const ofCustomers = grouped(prices, ({ customer, currency }) =>
    customer === null ? null : `moved-${customer}-${currency}`,
  );
  for (const [number, own] of ofCustomers) await maker.makeContract(number, own);
  return maker;
}
