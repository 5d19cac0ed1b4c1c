import { expect } from 'chai';
import type { Knex } from 'knex';
import { Decimal } from '../../src/kernel/numbers/money.js';
import { lookThrough, readable } from '../../src/kernel/expression/expression-value.js';
import { parseStoredInPortions } from '../../src/kernel/text/json-portions.js';
import {
  jsonSafeInPortions,
  jsonWithDoublesInPortions,
} from '../../src/kernel/text/json-write-portions.js';
import {
  jsonSafe,
  jsonWithDoubles,
  parseStoredJson,
  stringifyJson,
} from '../../src/kernel/text/json.js';
import { RateCardRow } from '../../src/models/catalog/rate-card-row.js';
import { RateCard } from '../../src/models/catalog/rate-card.js';
import { readRecords } from '../../src/models/db/read-records.js';
import { presentRateCards } from '../../src/queries/catalog/rate-card.js';

/** What some work returns, and how many turns of the event loop others had meanwhile. */
async function withTurns<T>(work: () => Promise<T>): Promise<{ result: T; turns: number }> {
  let turns = 0;
  let isDone = false;
  const look = (): void => {
    turns += 1;
    if (!isDone) setImmediate(look);
  };
  setImmediate(look);
  const result = await work();
  isDone = true;
  return { result, turns };
}

const many = 50_000;

const makeRow = (position: number): RateCardRow =>
  Object.assign(new RateCardRow(), {
    id: `row-${position}`,
    label: `Row ${position}`,
    attributeId: 'units',
    priceMethod: 'QUANTITY',
    rates: { unitRate: `0.${position + 1}` },
    attributeValues: [],
  });

const makeCard = (versionNo: number, rows: RateCardRow[]): RateCard =>
  Object.assign(new RateCard(), { currency: 'USD', versionNo, lastDay: null, rows });

/** A database that answers any statement with these rows. */
const answering = (names: readonly string[], rows: readonly (readonly unknown[])[]): Knex => {
  const query = () => Promise.resolve({ fields: names.map((name) => ({ name })), rows });
  const client = {
    acquireConnection: () => Promise.resolve({ query }),
    releaseConnection: () => Promise.resolve(),
  };
  return { client } as unknown as Knex;
};

// docs/decisions/0503
describe('what is large', () => {
  it('is presented while others are served: a card of many rows', async () => {
    const card = makeCard(
      1,
      Array.from({ length: many }, (_each, index) => makeRow(index)),
    );
    const { result, turns } = await withTurns(() => presentRateCards([card]));
    expect(turns).to.be.greaterThan(1);
    expect(result[0]?.rows).to.have.length(many);
    expect(result[0]?.rows.at(-1)).to.include({ id: 'row-49999', label: 'Row 49999' });
  });

  it('is presented while others are served: many cards of few rows', async () => {
    const cards = Array.from({ length: many / 5 }, (_each, index) =>
      makeCard(index, [0, 1, 2, 3, 4].map(makeRow)),
    );
    const { result, turns } = await withTurns(() => presentRateCards(cards));
    expect(turns).to.be.greaterThan(1);
    expect(result.map(({ versionNo }) => versionNo)).to.deep.equal(
      cards.map(({ versionNo }) => versionNo),
    );
  });

  it('is read while others are served', async () => {
    const rows = Array.from({ length: many }, (_each, index) => [`row-${index}`, index, 'USD']);
    const db = answering(['id', 'position', 'tax_code'], rows);
    const sql = 'select * from rate_card_row where tenant_id = $1';
    const { result, turns } = await withTurns(() => readRecords(RateCardRow, db, 'tenant', sql));
    expect(turns).to.be.greaterThan(1);
    expect(result).to.have.length(many);
    expect(result[7]).to.be.instanceOf(RateCardRow);
    expect(result[7]).to.include({ id: 'row-7', position: 7, taxCode: 'USD' });
  });

  it('is made plain JSON while others are served', async () => {
    const exact = new Decimal('12345678901234567890.123456789');
    const items = Array.from({ length: many }, (_each, index) => ({
      itemId: `item-${index}`,
      amount: index % 2 === 0 ? new Decimal(index) : exact,
      parts: [null, true, { at: undefined }],
    }));
    const value = { reason: 'x', none: null, note: { items, text: 'y'.repeat(many) } };
    const { result, turns } = await withTurns(() => jsonSafeInPortions(value));
    expect(turns).to.be.greaterThan(1);
    expect(stringifyJson(result)).to.equal(stringifyJson(jsonSafe(value)));
  });

  it('is made plain JSON while others are served: a list of nothing but numbers', async () => {
    const value = { a: Array.from({ length: 4 * many }, () => new Decimal('1e9')) };
    const { result, turns } = await withTurns(() => jsonSafeInPortions(value));
    expect(turns).to.be.greaterThan(3);
    expect(stringifyJson(result)).to.equal(stringifyJson(jsonSafe(value)));
  });

  it('is made JSON of floats while others are served', async () => {
    const deep = Array.from({ length: many }, () => [[[new Decimal('12345678901234567890')]]]);
    const value = { deep, of: new Decimal('0.5') };
    const { result, turns } = await withTurns(() => jsonWithDoublesInPortions(value));
    expect(turns).to.be.greaterThan(1);
    expect(result).to.deep.equal(jsonWithDoubles(value));
  });

  it('is parsed as it was stored while others are served, whatever it has', async () => {
    const names = Array.from({ length: 20_000 }, (_each, index) => `"n${index}": ${index}`);
    const deepest = `${'['.repeat(100)}12345678901234567.5${']'.repeat(100)}`;
    const text = `{"names": {${names.join()}}, "deepest": ${deepest}, "long": "${'x'.repeat(2 * 1024 * 1024)}"}`;
    const { result, turns } = await withTurns(() => parseStoredInPortions(text));
    expect(turns).to.be.greaterThan(1);
    expect(result).to.deep.equal(parseStoredJson(text));
  });

  it('is looked through for expressions while others are served, and not copied', async () => {
    // Some hundred milliseconds: a portion is three of them.
    const list = Array.from({ length: 10 * many }, (_each, index) => ({ index, of: [[index]] }));
    const value = { list };
    const { turns } = await withTurns(() => lookThrough(value));
    expect(turns).to.be.greaterThan(1);
    expect(readable(value)).to.equal(value);
    const odd = { list: [...list, { constructor: 1 }] };
    await lookThrough(odd);
    expect(readable(odd)).to.not.equal(odd);
  });

  it('is plain JSON as what is small is', async () => {
    for (const value of [null, 'x', new Decimal('1.5'), [], { a: [new Decimal('0.1')] }]) {
      expect(await jsonSafeInPortions(value)).to.deep.equal(jsonSafe(value));
    }
  });
});
