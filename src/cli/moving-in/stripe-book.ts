import { Readable } from 'node:stream';
import {
  entryOf,
  fromMinor,
  isCurrency,
  isDecimal,
  type ImportedBook,
  type ImportedPrice,
} from './book.js';
import { instantOf, listOf, objectOf, readList, textOf, type JsonObject } from './json-file.js';
import { Faults } from './faults.js';
import { shareSamePrices } from './same-prices.js';

interface Meter {
  /** The name of its events. */
  readonly name: string;
  /** Which member of the payload is summed up; null: events are counted. */
  readonly valueKey: string | null;
  readonly customerKey: string;
}

/**
 * A folder with what the API of Stripe answers: customers.json, meters.json, prices.json (with
 * `expand[]=data.tiers`), subscriptions.json and meter_events.json (as they were sent), each with its
 * list under `data`.
 */
export async function readStripeBook(folder: string): Promise<ImportedBook> {
  const read = (name: string) => readList(folder, `${name}.json`, 'data');
  const left: string[] = [];
  const meters = metersOf(await read('meters'), left);
  const prices = new Map((await read('prices')).map((price) => [textOf(price, 'id'), price]));
  const subscribed = (await read('subscriptions')).flatMap((subscription, index) =>
    listOf(objectOf(subscription, 'items'), 'data').flatMap((item) => {
      const id = textOf(objectOf(item, 'price'), 'id') || textOf(item, 'price');
      const place = entryOf('subscriptions.json', index);
      const price = prices.get(id);
      if (price)
        return priceOf(price, meters, { place, customer: textOf(subscription, 'customer'), left });
      left.push(`${place}: there is no price '${id}'`);
      return [];
    }),
  );
  const byName = new Map([...meters.values()].map((meter) => [meter.name, meter]));
  const events = (await read('meter_events')).flatMap((event, index) => {
    const name = textOf(event, 'event_name');
    const meter = byName.get(name);
    if (!meter) {
      left.push(`events of ${name}: it is no meter that is moved`);
      return [];
    }
    const payload = objectOf(event, 'payload');
    return [
      {
        place: entryOf('meter_events.json', index),
        id: textOf(event, 'identifier'),
        customer: textOf(payload, meter.customerKey),
        meter: meter.name,
        at: instantOf(textOf(event, 'timestamp')),
        quantity: meter.valueKey === null ? '1' : textOf(payload, meter.valueKey),
      },
    ];
  });
  const customers = (await read('customers')).map((customer, index) => ({
    place: entryOf('customers.json', index),
    externalId: textOf(customer, 'id'),
    name: textOf(customer, 'name') || textOf(customer, 'id'),
    currency: textOf(customer, 'currency').toUpperCase() || null,
  }));
  return {
    customers,
    prices: shareSamePrices(subscribed),
    events: () => Readable.from(events),
    left: [...new Set(left)],
    faults: new Faults(),
  };
}

function metersOf(list: readonly JsonObject[], left: string[]): Map<string, Meter> {
  const meters = new Map<string, Meter>();
  for (const meter of list) {
    const name = textOf(meter, 'event_name');
    const formula = textOf(objectOf(meter, 'default_aggregation'), 'formula');
    if (formula !== 'sum' && formula !== 'count') {
      left.push(`meter ${name}: ${formula} is not moved, only sum and count`);
      continue;
    }
    const value = textOf(objectOf(meter, 'value_settings'), 'event_payload_key') || 'value';
    const customerKey =
      textOf(objectOf(meter, 'customer_mapping'), 'event_payload_key') || 'stripe_customer_id';
    meters.set(textOf(meter, 'id'), {
      name,
      valueKey: formula === 'sum' ? value : null,
      customerKey,
    });
  }
  return meters;
}

interface Subscribed {
  readonly place: string;
  readonly customer: string;
  readonly left: string[];
}

/** A price in units of its currency: Stripe has minor units. */
function priceOf(
  price: JsonObject,
  meters: ReadonlyMap<string, Meter>,
  { place, customer, left }: Subscribed,
): ImportedPrice[] {
  const id = textOf(price, 'id');
  const meter = meters.get(textOf(objectOf(price, 'recurring'), 'meter'));
  if (!meter) {
    left.push(`price ${id}: it is of no meter that is moved`);
    return [];
  }
  const currency = textOf(price, 'currency').toUpperCase();
  const unit = (of: JsonObject, name: string): string => {
    const amount = textOf(of, `${name}_decimal`) || textOf(of, name) || '0';
    // What is no amount stays what it is, and is refused with its place.
    return isCurrency(currency) && isDecimal(amount) ? fromMinor(amount, currency) : amount;
  };
  const divided = textOf(objectOf(price, 'transform_quantity'), 'divide_by');
  if (divided !== '' && textOf(objectOf(price, 'transform_quantity'), 'round') !== 'up') {
    left.push(`price ${id}: packages that are rounded down are not moved`);
    return [];
  }
  const isTiered = textOf(price, 'billing_scheme') === 'tiered';
  return [
    {
      place: `${place}, price ${id}`,
      meter: meter.name,
      currency,
      model: isTiered
        ? textOf(price, 'tiers_mode') === 'volume'
          ? 'volume'
          : 'graduated'
        : divided === ''
          ? 'unit'
          : 'package',
      amount: unit(price, 'unit_amount'),
      packageSize: divided || null,
      tiers: listOf(price, 'tiers').map((tier) => ({
        to: textOf(tier, 'up_to').replace('inf', '') || null,
        unitAmount: unit(tier, 'unit_amount'),
        flatAmount: unit(tier, 'flat_amount'),
      })),
      customer,
    },
  ];
}
