import { Readable } from 'node:stream';
import {
  entryOf,
  type ImportedBook,
  type ImportedPrice,
  type ImportedTier,
  type PriceModel,
} from './book.js';
import { instantOf, listOf, objectOf, readList, textOf, type JsonObject } from './json-file.js';
import { Faults } from './faults.js';
import { shareSamePrices } from './same-prices.js';

const models: Readonly<Record<string, PriceModel>> = {
  standard: 'unit',
  graduated: 'graduated',
  volume: 'volume',
  package: 'package',
};

interface Metric {
  readonly code: string;
  /** Which property of an event is summed up; null: events are counted. */
  readonly field: string | null;
}

/**
 * A folder with what the API of Lago answers: customers.json, billable_metrics.json, plans.json,
 * subscriptions.json and events.json, each with its list under that name.
 */
export async function readLagoBook(folder: string): Promise<ImportedBook> {
  const read = (name: string) => readList(folder, `${name}.json`, name);
  const left: string[] = [];
  const metrics = metricsOf(await read('billable_metrics'), left);
  const plans = new Map((await read('plans')).map((plan) => [textOf(plan, 'code'), plan]));
  const subscriptions = await read('subscriptions');
  const customerOf = new Map(
    subscriptions.map((one) => [textOf(one, 'external_id'), textOf(one, 'external_customer_id')]),
  );
  const prices = subscriptions.flatMap((one, index) => {
    const plan = plans.get(textOf(one, 'plan_code'));
    const place = entryOf('subscriptions.json', index);
    if (!plan) left.push(`${place}: there is no plan '${textOf(one, 'plan_code')}'`);
    return listOf(plan, 'charges').flatMap((charge) =>
      priceOf(charge, {
        place: `${place}, plan ${textOf(plan, 'code')}`,
        currency: textOf(plan, 'amount_currency'),
        customer: textOf(one, 'external_customer_id'),
        left,
      }),
    );
  });
  const events = (await read('events')).flatMap((event, index) => {
    const code = textOf(event, 'code');
    const metric = metrics.get(code);
    if (!metric) {
      left.push(`events of ${code}: it is no metric that is moved`);
      return [];
    }
    const subscription = textOf(event, 'external_subscription_id');
    const properties = objectOf(event, 'properties');
    return [
      {
        place: entryOf('events.json', index),
        id: textOf(event, 'transaction_id'),
        customer: customerOf.get(subscription) ?? textOf(event, 'external_customer_id'),
        meter: metric.code,
        at: instantOf(textOf(event, 'timestamp')),
        quantity: metric.field === null ? '1' : textOf(properties, metric.field),
      },
    ];
  });
  const customers = (await read('customers')).map((customer, index) => ({
    place: entryOf('customers.json', index),
    externalId: textOf(customer, 'external_id'),
    name: textOf(customer, 'name') || textOf(customer, 'external_id'),
    currency: textOf(customer, 'currency') || null,
  }));
  return {
    customers,
    prices: shareSamePrices(prices),
    events: () => Readable.from(events),
    left: [...new Set(left)],
    faults: new Faults(),
  };
}

function metricsOf(list: readonly JsonObject[], left: string[]): Map<string, Metric> {
  const metrics = new Map<string, Metric>();
  for (const metric of list) {
    const code = textOf(metric, 'code');
    const aggregation = textOf(metric, 'aggregation_type');
    if (aggregation === 'count_agg') metrics.set(code, { code, field: null });
    else if (aggregation === 'sum_agg') {
      metrics.set(code, { code, field: textOf(metric, 'field_name') });
    } else left.push(`metric ${code}: ${aggregation} is not moved, only count_agg and sum_agg`);
  }
  return metrics;
}

interface Charged {
  readonly place: string;
  readonly currency: string;
  readonly customer: string;
  readonly left: string[];
}

function priceOf(
  charge: JsonObject,
  { place, currency, customer, left }: Charged,
): ImportedPrice[] {
  const meter = textOf(charge, 'billable_metric_code');
  const properties = objectOf(charge, 'properties');
  const name = textOf(charge, 'charge_model');
  const model = models[name];
  if (!model) {
    left.push(`price of ${meter}: the model ${name} is not moved`);
    return [];
  }
  const ranges = listOf(properties, model === 'volume' ? 'volume_ranges' : 'graduated_ranges');
  const tiers = ranges.map((range): ImportedTier => ({
    to: textOf(range, 'to_value') || null,
    unitAmount: textOf(range, 'per_unit_amount') || '0',
    flatAmount: textOf(range, 'flat_amount') || '0',
  }));
  if (textOf(properties, 'free_units') !== '' && textOf(properties, 'free_units') !== '0') {
    left.push(`price of ${meter}: packages with free units are not moved`);
    return [];
  }
  return [
    {
      place,
      meter,
      currency,
      model,
      amount: textOf(properties, 'amount') || '0',
      packageSize: textOf(properties, 'package_size') || null,
      tiers,
      customer,
    },
  ];
}
