import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ImportedBook } from '../../src/cli/moving-in/book.js';
import { checkBook } from '../../src/cli/moving-in/check-book.js';
import { readCsvBook } from '../../src/cli/moving-in/csv-book.js';
import { readLagoBook } from '../../src/cli/moving-in/lago-book.js';
import { readStripeBook } from '../../src/cli/moving-in/stripe-book.js';

type Files = Readonly<Record<string, string | Buffer>>;

const csv = {
  'customers.csv': 'externalId,name,currency\nacme,Acme,USD\n',
  'prices.csv': 'meter,currency,model,amount\ncalls,USD,unit,0.5\n',
  'usage.csv': 'id,customer,meter,at,quantity\ne-1,acme,calls,2026-03-05T10:00:00Z,3\n',
};
const prices = (...rows: readonly string[]) => ({
  'prices.csv': ['meter,currency,model,amount,upTo,unitAmount,flatAmount,customer', ...rows].join(
    '\n',
  ),
});
const usage = (...rows: readonly string[]) => ({
  'usage.csv': ['id,customer,meter,at,quantity', ...rows].join('\n'),
});
const at = '2026-03-05T10:00:00Z';

/** What cannot be moved in is refused before anything is written, with its place and its value. */
describe('files of another billing system', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'durabill-moving-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const write = async (files: Files): Promise<void> => {
    for (const [name, content] of Object.entries(files))
      await writeFile(join(folder, name), content);
  };
  const check = async (read: (folder: string) => Promise<ImportedBook>, files: Files) => {
    await write(files);
    const book = await read(folder);
    return { book, ...(await checkBook(book)) };
  };
  const faultOf = async (read: (folder: string) => Promise<ImportedBook>, files: Files) => {
    const ended = await check(read, files).then(
      () => 'nothing',
      (error: unknown) => error,
    );
    expect(ended).to.be.instanceOf(Error);
    return (ended as Error).message.replace(folder, '').replace('Nothing was imported:\n', '');
  };

  // spec/beyond.md R145
  const faults: readonly (readonly [string, Files, string])[] = [
    [
      'an empty file',
      { 'customers.csv': '' },
      'customers.csv is empty: its first line names the columns externalId, name.',
    ],
    [
      'a header alone, of other columns',
      { 'usage.csv': 'id,customer\n' },
      'usage.csv lacks the columns meter, at, quantity; its first line has id, customer.',
    ],
    [
      'semicolons',
      { 'customers.csv': 'externalId;name\na;b\n' },
      'customers.csv lacks the columns externalId, name; its first line has externalId;name.',
    ],
    [
      'a column twice',
      { 'customers.csv': 'externalId,name,name\na,b,c\n' },
      "customers.csv has the column 'name' twice.",
    ],
    [
      'another encoding',
      { 'customers.csv': Buffer.from('externalId,name\na,M\xfcller\n', 'latin1') },
      'customers.csv is no UTF-8 text: save it as UTF-8.',
    ],
    [
      'UTF-16',
      { 'customers.csv': Buffer.from('\ufeffexternalId,name\na,b\n', 'utf16le') },
      'customers.csv is no UTF-8 text: save it as UTF-8.',
    ],
    [
      'a short row',
      { 'usage.csv': 'id,customer,meter,at,quantity\ne-1,acme,calls\n' },
      'usage.csv: Invalid Record Length: columns length is 5, got 3 on line 2',
    ],
    [
      'a quote that nobody closes',
      { 'usage.csv': 'id,customer,meter,at,quantity\n"e-1,acme,calls,x,1\n' },
      'usage.csv: Quote Not Closed: the parsing is finished with an opening quote at line 2',
    ],
    [
      'a customer twice',
      { 'customers.csv': 'externalId,name\nacme,Acme\nacme,Other\n' },
      "customers.csv, line 3: customer 'acme' stands at customers.csv, line 2 already",
    ],
    [
      'no currency',
      { 'customers.csv': 'externalId,name,currency\nacme,Acme,usd\n' },
      "customers.csv, line 2: currency 'usd' is no code of a currency, such as USD",
    ],
    [
      'no name',
      { 'customers.csv': 'externalId,name\nacme,\n' },
      "customers.csv, line 2: customer 'acme' has no name",
    ],
    [
      'no amount',
      prices('calls,USD,unit,"1,50",,,,'),
      "prices.csv, line 2: price of 'calls': amount '1,50' is no decimal number, such as 0.25",
    ],
    [
      'a price twice',
      prices('calls,USD,unit,1,,,,', 'calls,USD,unit,2,,,,'),
      "prices.csv, line 3: another price of 'calls' in USD stands at prices.csv, line 2",
    ],
    [
      'tiers of two models',
      prices('calls,USD,volume,,10,1,,', 'calls,USD,graduated,,,2,,'),
      "prices.csv, line 2: price of 'calls': tier 1: upTo is '10': the last tier is open (upTo empty), and no other\n" +
        "prices.csv, line 3: another price of 'calls' in USD stands at prices.csv, line 2",
    ],
    [
      'tiers in no order',
      prices('calls,USD,volume,,10,1,,', 'calls,USD,volume,,10,2,,', 'calls,USD,volume,,,2,,'),
      "prices.csv, line 3: price of 'calls': tier 2: upTo '10' is not above 10",
    ],
    [
      'no open tier',
      prices('calls,USD,volume,,10,1,,'),
      "prices.csv, line 2: price of 'calls': tier 1: upTo is '10': the last tier is open (upTo empty), and no other",
    ],
    [
      'no amount at all, which would be free',
      prices('calls,USD,unit,,,,,'),
      "prices.csv, line 2: price of 'calls': amount '' is no decimal number, such as 0.25",
    ],
    [
      'more digits than any amount has',
      prices(`calls,USD,unit,0.${'1'.repeat(39)},,,,`),
      `prices.csv, line 2: price of 'calls': amount '0.${'1'.repeat(39)}' is no decimal number, such as 0.25`,
    ],
    [
      'packages of nothing',
      { 'prices.csv': 'meter,currency,model,amount,packageSize\ncalls,USD,package,1,0\n' },
      "prices.csv, line 2: price of 'calls': packageSize '0' is not above zero",
    ],
    [
      'the price of nobody',
      prices('calls,USD,unit,1,,,,globex'),
      "prices.csv, line 2: price of 'calls': there is no customer 'globex'",
    ],
    [
      'no quantity',
      usage(`e-1,acme,calls,${at},many`),
      "usage.csv, line 2: event e-1: quantity 'many' is no decimal number, such as 12.5",
    ],
    [
      'a quantity below zero',
      usage(`e-1,acme,calls,${at},-3`),
      "usage.csv, line 2: event e-1: quantity '-3' is below zero",
    ],
    [
      'no instant',
      usage('e-1,acme,calls,05.03.2026,1'),
      "usage.csv, line 2: event e-1: eventTimestamp must be an ISO 8601 date-time that exists, such as 2024-01-31T23:59:59Z, of the years 1900 to 9998, not '05.03.2026'",
    ],
    [
      'no id',
      usage(`,acme,calls,${at},1`),
      'usage.csv, line 2: event : externalTransactionId must not be empty',
    ],
    [
      'an id of two events',
      usage(`e-1,acme,calls,${at},1`, `e-1,acme,calls,${at},1`, `e-1,acme,calls,${at},2`),
      'usage.csv, line 4: event e-1: another event has this id; it would be taken for a duplicate',
    ],
  ];
  for (const [what, files, fault] of faults) {
    it(`csv: ${what}`, async () => {
      expect(await faultOf(readCsvBook, { ...csv, ...files })).to.equal(fault);
    });
  }

  it('names a file that is missing', async () => {
    expect(await faultOf(readCsvBook, {})).to.equal("There is no file '/customers.csv'.");
    expect(await faultOf(readLagoBook, {})).to.equal("There is no file '/billable_metrics.json'.");
  });

  it('names a folder that stands where a file should', async () => {
    await mkdir(join(folder, 'customers.csv'));
    await mkdir(join(folder, 'billable_metrics.json'));
    expect(await faultOf(readCsvBook, {})).to.equal("'/customers.csv' is a folder, not a file.");
    expect(await faultOf(readLagoBook, {})).to.equal(
      "'/billable_metrics.json' is a folder, not a file.",
    );
  });

  it('names twenty faults and counts the others', async () => {
    const rows = Array.from({ length: 25 }, (_each, index) => `e-${index},nobody,calls,${at},1`);
    const lines = (await faultOf(readCsvBook, { ...csv, ...usage(...rows) })).split('\n');
    expect(lines).to.have.length(21);
    expect(lines.at(-1)).to.equal('and 5 more in usage.csv');
  });

  // spec/beyond.md R145
  it('names what is wrong in all files at once, by line, field and value', async () => {
    const faults = await faultOf(readCsvBook, {
      'customers.csv': 'externalId,name,currency\nacme,Acme,usd\nglobex,,\n',
      ...prices(
        'calls,USD,tiered,,10,x,,',
        'calls,USD,graduated,,5,1,2,',
        'calls,USD,graduated,,,1,,',
        'storage,EURO,unit,free,,,,nobody',
        'texts,USD,,1,,,,',
      ),
      ...usage(`e-1,acme,texts,${at},1`, 'e-2,acme', `e-3,nobody,texts,${at},-1`, '"e-4'),
    });
    const models = 'they are unit, flat, package, graduated, volume';
    expect(faults.split('\n')).to.deep.equal([
      `prices.csv, line 2: model 'tiered' is no model; ${models}`,
      `prices.csv, line 6: model '' is no model; ${models}`,
      "prices.csv, line 2: price of 'calls': tier 1: unitAmount 'x' is no decimal number, such as 0.25",
      "prices.csv, line 3: price of 'calls': tier 2: unitAmount '1' and flatAmount '2': a tier has an amount for each unit or one for itself, not both",
      "prices.csv, line 3: price of 'calls': tier 2: upTo '5' is not above 10",
      "prices.csv, line 5: currency 'EURO' is no code of a currency, such as USD",
      "prices.csv, line 5: price of 'storage': there is no customer 'nobody'",
      "prices.csv, line 5: price of 'storage': amount 'free' is no decimal number, such as 0.25",
      "customers.csv, line 2: currency 'usd' is no code of a currency, such as USD",
      "customers.csv, line 3: customer 'globex' has no name",
      'usage.csv: Invalid Record Length: columns length is 5, got 2 on line 3',
      "usage.csv, line 4: event e-3: there is no customer 'nobody'",
      "usage.csv, line 4: event e-3: quantity '-1' is below zero",
      'usage.csv: Quote Not Closed: the parsing is finished with an opening quote at line 5',
    ]);
  });

  it('reads what spreadsheets write: a BOM, CRLF, quotes, empty lines', async () => {
    const { book, events } = await check(readCsvBook, {
      ...csv,
      'customers.csv': '\ufeffexternalId,name\r\nacme,"Acme, ""the"" one"\r\n\r\n,\r\n',
    });
    expect(book.customers).to.deep.equal([
      {
        place: 'customers.csv, line 2',
        externalId: 'acme',
        name: 'Acme, "the" one',
        currency: null,
      },
    ]);
    expect(events).to.equal(1);
  });

  const lago = (files: Files): Files => ({
    'billable_metrics.json': '{"billable_metrics": []}',
    'plans.json': '{"plans": []}',
    'subscriptions.json': '{"subscriptions": []}',
    'customers.json': '{"customers": []}',
    'events.json': '{"events": []}',
    ...files,
  });

  it('json: garbage is named with its file', async () => {
    const faultIn = (events: string) => faultOf(readLagoBook, lago({ 'events.json': events }));
    expect(await faultIn('{"events": [')).to.match(/^events\.json is no JSON: /);
    expect(await faultIn('')).to.match(/^events\.json is no JSON: /);
    expect(await faultIn('null')).to.equal("events.json has no list 'events'.");
    expect(await faultIn('[null]')).to.equal(
      "events.json: 'events' has an entry that is no object (0).",
    );
    expect(await faultIn('{"events": [{}, 5]}')).to.equal(
      "events.json: 'events' has an entry that is no object (1).",
    );
  });

  it('lago: what is of nothing that is moved is named, never dropped in silence', async () => {
    const { book } = await check(
      readLagoBook,
      lago({
        'subscriptions.json':
          '{"subscriptions": [{"external_id": "s", "external_customer_id": "a", "plan_code": "gone"}]}',
        'events.json': '{"events": [{"code": "typo"}, {"code": "typo"}]}',
      }),
    );
    expect(book.left).to.deep.equal([
      "subscriptions.json, entry 0: there is no plan 'gone'",
      'events of typo: it is no metric that is moved',
    ]);
  });

  it('stripe: an unknown price, meter, currency and instant', async () => {
    const lists = ['customers', 'meters', 'prices', 'subscriptions', 'meter_events'];
    const empty = Object.fromEntries(lists.map((name) => [`${name}.json`, '{"data": []}']));
    const { book } = await check(readStripeBook, {
      ...empty,
      'subscriptions.json': '{"data": [{"customer": "a", "items": {"data": [{"price": "p"}]}}]}',
      'meter_events.json': '{"data": [{"event_name": "typo"}]}',
    });
    expect(book.left).to.deep.equal([
      "subscriptions.json, entry 0: there is no price 'p'",
      'events of typo: it is no meter that is moved',
    ]);
    const fault = await faultOf(readStripeBook, {
      ...empty,
      'customers.json': '{"data": [{"id": "a"}]}',
      'meters.json':
        '{"data": [{"id": "m", "event_name": "calls", "default_aggregation": {"formula": "sum"}}]}',
      'prices.json':
        '{"data": [{"id": "p", "currency": "zz", "unit_amount": 5, "recurring": {"meter": "m"}}]}',
      'subscriptions.json': '{"data": [{"customer": "a", "items": {"data": [{"price": "p"}]}}]}',
      'meter_events.json':
        '{"data": [{"event_name": "calls", "identifier": "e", "timestamp": 1e20, "payload": {"stripe_customer_id": "a", "value": "3"}}]}',
    });
    expect(fault.split('\n')).to.deep.equal([
      "subscriptions.json, entry 0, price p: currency 'ZZ' is no code of a currency, such as USD",
      "meter_events.json, entry 0: event e: eventTimestamp must be an ISO 8601 date-time that exists, such as 2024-01-31T23:59:59Z, of the years 1900 to 9998, not '100000000000000000000'",
    ]);
  });
});
