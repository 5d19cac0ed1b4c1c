import { createHash } from 'node:crypto';
import { parseDecimal } from '../../kernel/numbers/money.js';
import { readUsageEvent } from '../../rating/index.js';
import {
  isCurrency,
  quantityAttribute,
  rateRowOf,
  type ImportedBook,
  type ImportedEvent,
  type ImportedPrice,
  type RateRow,
} from './book.js';
import type { Faults } from './faults.js';

/** The message of an event, as it is sent. */
export const messageOf = (
  { id, customer, at, quantity }: ImportedEvent,
  serviceId: string | undefined,
) => ({
  externalTransactionId: id,
  billingAccountRef: customer,
  serviceId,
  eventTimestamp: at,
  dimensions: { [quantityAttribute]: quantity },
});

/** A book that can be said here. */
interface CheckedBook {
  readonly rows: ReadonlyMap<ImportedPrice, RateRow>;
  readonly events: number;
}

/** The rows of all prices. Throws, before anything is written, where something cannot be said here. */
export async function checkBook(book: ImportedBook): Promise<CheckedBook> {
  const { faults } = book;
  const known = checkCustomers(book, faults);
  const rows = checkPrices(book, known, faults);
  const events = await checkEvents(book, known, faults);
  faults.throwAny();
  return { rows, events };
}

function checkCurrency(place: string, currency: string, faults: Faults): void {
  if (isCurrency(currency)) return;
  faults.add(place, `currency '${currency}' is no code of a currency, such as USD`);
}

type Places = ReadonlyMap<string, string>;

/** Where each customer stands. */
function checkCustomers({ customers }: ImportedBook, faults: Faults): Places {
  const known = new Map<string, string>();
  for (const { place, externalId, name, currency } of customers) {
    if (externalId === '') faults.add(place, 'the customer has no id');
    if (name === '') faults.add(place, `customer '${externalId}' has no name`);
    if (currency !== null) checkCurrency(place, currency, faults);
    const first = known.get(externalId);
    if (first !== undefined) {
      faults.add(place, `customer '${externalId}' stands at ${first} already`);
    } else known.set(externalId, place);
  }
  return known;
}

function checkPrices(
  { prices }: ImportedBook,
  known: Places,
  faults: Faults,
): Map<ImportedPrice, RateRow> {
  const rows = new Map<ImportedPrice, RateRow>();
  const places = new Map<string, string>();
  for (const price of prices) {
    const { place, meter, currency, customer } = price;
    if (meter === '') faults.add(place, 'the price has no meter');
    checkCurrency(place, currency, faults);
    if (customer !== null && !known.has(customer)) {
      faults.add(place, `price of '${meter}': there is no customer '${customer}'`);
    }
    const key = JSON.stringify([meter, currency, customer]);
    const first = places.get(key);
    if (first === undefined) places.set(key, place);
    else {
      const whose = customer === null ? '' : ` for '${customer}'`;
      faults.add(place, `another price of '${meter}' in ${currency}${whose} stands at ${first}`);
    }
    const row = rateRowOf(price, faults.add);
    if (row) rows.set(price, row);
  }
  return rows;
}

/** How many events there are. */
async function checkEvents(
  { prices, events }: ImportedBook,
  known: Places,
  faults: Faults,
): Promise<number> {
  const meters = new Set(prices.map(({ meter }) => meter));
  const contents = new Map<string, string>();
  // The form of an event is checked before it has the service that its meter becomes.
  const anyService = '00000000-0000-0000-0000-000000000000';
  let count = 0;
  for await (const event of events()) {
    count += 1;
    const { place, id, customer, meter, quantity } = event;
    if (!known.has(customer)) faults.add(place, `event ${id}: there is no customer '${customer}'`);
    if (!meters.has(meter)) faults.add(place, `event ${id}: there is no price of '${meter}'`);
    const read = readUsageEvent(messageOf(event, anyService));
    if (!read.ok) faults.add(place, `event ${id}: ${read.message}`);
    const fault = quantityFault(quantity);
    if (read.ok && fault !== null)
      faults.add(place, `event ${id}: quantity '${quantity}' ${fault}`);
    const content = contentOf(event);
    if ((contents.get(id) ?? content) !== content) {
      faults.add(
        place,
        `event ${id}: another event has this id; it would be taken for a duplicate`,
      );
    }
    contents.set(id, content);
  }
  return count;
}

function quantityFault(quantity: string): string | null {
  const decimal = parseDecimal(quantity);
  if (decimal === null) return 'is no decimal number, such as 12.5';
  return decimal.lessThan(0) ? 'is below zero' : null;
}

/** What tells events of one id apart, in few bytes: there may be millions. */
const contentOf = ({ customer, meter, at, quantity }: ImportedEvent): string =>
  createHash('sha1')
    .update(JSON.stringify([customer, meter, at, quantity]))
    .digest('base64')
    .slice(0, 11);
