import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { runDurabill, settingsOf, startDurabill } from '../support/servers/command-line.js';
import { external } from '../support/servers/instance.js';
import { useStory } from '../support/story/story.js';

const filesOf = (system: string): string =>
  fileURLToPath(new URL(`../support/moving/${system}`, import.meta.url));

/** Files by hand, from what the public documentation of each API shows. */
describe('moving in from another billing system', function () {
  // Each command is a process of its own.
  this.timeout(300_000);
  const story = useStory({ forEachTest: true });
  const { instance, tenant } = story;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'durabill-moving-'));
  });
  after(() => rm(folder, { recursive: true }));

  const durabill = (...words: readonly string[]) =>
    runDurabill(
      { ...settingsOf(instance), PUBLIC_URL: instance.url },
      ...words,
      '--tenant',
      tenant.id,
      '--url',
      instance.url,
    );
  const moveIn = (system: string, ...more: readonly string[]) =>
    durabill('import', filesOf(system), '--from', system, ...more);
  const compare = async (lines: readonly string[], ...more: readonly string[]) => {
    const path = join(folder, 'invoices.csv');
    await writeFile(path, ['customer,meter,currency,from,to,amount', ...lines].join('\n'));
    return durabill('parity', '--against', path, ...more);
  };
  const march = '2026-03-01,2026-04-01';

  // spec/beyond.md R145, R146
  it('csv: twice is once, and parity shows the line that differs with its receipt', async () => {
    const tried = await moveIn('csv', '--dry-run');
    expect(tried.output).to.equal('2 customers, 3 prices, 4 events\n');
    expect((await tenant.get(`${external}/accounts`)).body.data.totalElements).to.equal(0);
    const ended = await moveIn('csv');
    expect(ended.output, ended.errors).to.include('accepted 4 = rated 4');
    expect(ended.code).to.equal(0);
    const again = await moveIn('csv');
    expect(again.output, again.errors).to.include('accepted 4 = rated 0 + duplicate 4');
    // 500 x 0.02, 8,500 x 0.02, 500 x 0.01 = 185; 12.5 x 0.1 = 1.25; 200 x 0.015 = 3.
    const same = await compare([
      `acme,calls,USD,${march},185`,
      `acme,storage,USD,${march},1.25`,
      `globex,calls,USD,${march},3.00`,
    ]);
    expect(same.output, same.errors).to.equal(
      'USD: billed 189.25, rated 189.25\n3 lines, 0 differ\n',
    );
    expect(same.code).to.equal(0);
    const other = await compare([`acme,calls,USD,${march},190.10`]);
    expect(other.output.split('\n').slice(0, 2)).to.deep.equal([
      'acme calls 2026-03-01..2026-04-01: billed 190.1, rated 185 USD, difference -5.1 (2 events, 10500)',
      'acme storage 2026-03-01..2026-04-01: billed nothing, rated 1.25 USD, difference 1.25 (1 events, 12.5)',
    ]);
    expect(other.output).to.include(
      'TIERED of 9000, counter 1500 to 10500: 175\n' +
        '      tier 2: 8500 at 0.02 = 170\n      tier 3: 500 at 0.01 = 5\n',
    );
    expect(other.output).to.include('2 lines, 2 differ');
    expect(other.code).to.equal(1);
    const tolerant = await compare(
      [`acme,calls,USD,${march},185.004`, `acme,storage,USD,${march},1.25`],
      '--tolerance',
      '0.01',
      '--no-receipts',
    );
    expect(tolerant.code).to.equal(0);
  });

  // spec/beyond.md R239
  it('csv: a second import adds prices that are new, and names those that are others here', async () => {
    expect((await moveIn('csv')).code).to.equal(0);
    const files = await mkdtemp(join(folder, 'again-'));
    const write = (name: string, ...lines: readonly string[]) =>
      writeFile(join(files, name), lines.join('\n'));
    await write('customers.csv', 'externalId,name,currency', 'globex,Globex,USD');
    await write(
      'prices.csv',
      'meter,currency,model,amount,packageSize,upTo,unitAmount,flatAmount,customer',
      // A tier more than before.
      'calls,USD,graduated,,,1000,0,,',
      'calls,USD,graduated,,,,0.01,,',
      'storage,USD,unit,0.10,,,,,',
      'storage,EUR,unit,0.2,,,,,',
      'calls,USD,unit,0.03,,,,,globex',
      'storage,USD,unit,0.05,,,,,globex',
      'storage,EUR,package,1,10,,,,globex',
    );
    await write(
      'usage.csv',
      'id,customer,meter,at,quantity',
      'f-1,globex,calls,2026-03-08T00:00:00Z,100',
      'f-2,globex,storage,2026-03-08T00:00:00Z,40',
    );
    const again = () => durabill('import', files, '--from', 'csv');
    const ended = await again();
    const version = 'has another price here: make a version of its card with a date';
    const unmetered = 'has no meter here: its tiers and packages are those of each event alone';
    expect(ended.errors.split('\n').filter((line) => line.startsWith('stays'))).to.deep.equal([
      `stays as it is: prices.csv, line 2: 'calls' in USD ${version}`,
      `stays as it is: prices.csv, line 8: 'storage' in EUR for 'globex' ${unmetered}`,
      `stays as it is: prices.csv, line 6: 'calls' in USD for 'globex' ${version}`,
    ]);
    expect(ended.output, ended.errors).to.include('accepted 2 = rated 2');
    expect(ended.code).to.equal(1);
    // (200 + 100) x 0.015 as before; 40 x 0.05 by the line that was added.
    const compared = await compare([
      `globex,calls,USD,${march},4.5`,
      `globex,storage,USD,${march},2`,
    ]);
    expect(compared.output, compared.errors).to.include('2 lines, 0 differ');
    const cards = `${external}/services/storage/rate-cards/EUR`;
    expect((await tenant.get(cards).expect(200)).body.rows[0]).to.include({ unitRate: 0.2 });
    const third = await again();
    expect(third.errors).to.equal(ended.errors.replace(/.*(rated|sent).*\n/g, ''));
  });

  // spec/beyond.md R145
  it('csv: what is wrong is named at once, the exit code is 1, and nothing is made', async () => {
    const files = await mkdtemp(join(folder, 'wrong-'));
    const write = (name: string, ...lines: readonly string[]) =>
      writeFile(join(files, name), lines.join('\n'));
    await write('customers.csv', 'externalId,name,currency', 'acme,Acme,USD');
    await write(
      'prices.csv',
      'meter,currency,model,amount',
      'calls,USD,tiered,1',
      'gb,US,unit,1,5',
    );
    await write('usage.csv', 'id,customer,meter,at,quantity', 'e-1,acme,calls,yesterday,1');
    const ended = await durabill('import', files, '--from', 'csv');
    expect(ended.code).to.equal(1);
    expect(ended.errors.trim().split('\n').slice(-3)).to.deep.equal([
      "prices.csv, line 2: model 'tiered' is no model; they are unit, flat, package, graduated, volume",
      'prices.csv: Invalid Record Length: columns length is 4, got 5 on line 3',
      "usage.csv, line 2: event e-1: eventTimestamp must be an ISO 8601 date-time that exists, such as 2024-01-31T23:59:59Z, of the years 1900 to 9998, not 'yesterday'",
    ]);
    const { body } = await tenant.get(`${external}/accounts`).expect(200);
    expect(body.data.totalElements).to.equal(0);
  });

  // spec/beyond.md R145, R239
  it('csv: killed while it makes accounts, contracts or usage, and run again, it comes to the same', async () => {
    const files = await mkdtemp(join(folder, 'killed-'));
    const write = (name: string, head: string, lines: readonly string[]) =>
      writeFile(join(files, name), [head, ...lines].join('\n'));
    const names = Array.from({ length: 120 }, (_each, index) => `c-${index}`);
    await write(
      'customers.csv',
      'externalId,name,currency',
      names.map((name) => `${name},${name},USD`),
    );
    // The even ones pay 0.5 for a call, the others 0.25.
    await write(
      'prices.csv',
      'meter,currency,model,amount,packageSize,upTo,unitAmount,flatAmount,customer',
      names.map((name, index) => `calls,USD,unit,${index % 2 === 0 ? 0.5 : 0.25},,,,,${name}`),
    );
    const events = 4_800;
    await write(
      'usage.csv',
      'id,customer,meter,at,quantity',
      Array.from(
        { length: events },
        (_each, index) => `k-${index},c-${index % 120},calls,2026-03-05T10:00:00Z,1`,
      ),
    );
    const totalOf = async (what: string): Promise<number> =>
      (await tenant.get(`${external}/${what}`).expect(200)).body.data.totalElements;
    const accepted = async (): Promise<number> =>
      (await tenant.get('/v1/usage-events/summary').expect(200)).body.accepted;
    for (const isSoFar of [
      async () => (await totalOf('accounts')) >= 20,
      async () => (await totalOf('contracts')) >= 20,
      async () => (await accepted()) > 0,
    ]) {
      const { child } = startDurabill(
        { ...settingsOf(instance), PUBLIC_URL: instance.url },
        'import',
        files,
        '--from',
        'csv',
        '--tenant',
        tenant.id,
        '--url',
        instance.url,
      );
      const ended = once(child, 'exit');
      while (!(await isSoFar())) await wait(50);
      child.kill('SIGKILL');
      // Killed, and not at its end.
      expect(await ended).to.deep.equal([null, 'SIGKILL']);
    }
    const last = await durabill('import', files, '--from', 'csv');
    expect([last.code, last.output], last.errors).to.deep.include(0);
    expect([await totalOf('accounts'), await totalOf('contracts')]).to.deep.equal([120, 120]);
    const { body } = await tenant.get('/v1/usage-events/summary').expect(200);
    expect(body).to.include({ rated: events, rejected: 0, pending: 0 });
    // 2,400 at 0.5 and 2,400 at 0.25.
    const { body: totals } = await tenant.get('/v1/usage').expect(200);
    expect(totals.data[0]).to.include({ events, amount: 1_800 });
  });

  // spec/beyond.md R145
  it('lago: plans of customers become exception prices, what cannot be moved is named', async () => {
    const ended = await moveIn('lago');
    expect(ended.errors).to.include('left behind: metric seats: max_agg is not moved');
    expect(ended.errors).to.include(
      'left behind: price of seats: the model percentage is not moved',
    );
    expect(ended.output).to.include('accepted 4 = rated 4');
    expect(ended.code).to.equal(1);
    // As above 185; a login 0.25; 250 calls are 3 packages of 100 at 1.50 = 4.50.
    const compared = await compare([
      `acme,calls,USD,${march},185.00`,
      `acme,logins,USD,${march},0.25`,
      `globex,calls,USD,${march},4.5`,
    ]);
    expect(compared.output, compared.errors).to.include('3 lines, 0 differ');
  });

  // spec/beyond.md R145
  it('stripe: amounts of minor units are those of the currency', async () => {
    const ended = await moveIn('stripe');
    expect(ended.errors).to.include('left behind: price price_flat: it is of no meter');
    expect(ended.output, ended.errors).to.include('accepted 3 = rated 3');
    // 9,000 x 0.02 = 180 and 500 x 0.005 = 2.50; yen have no minor units: 250 x 3.
    const compared = await compare([
      `cus_acme,calls,USD,${march},182.5`,
      `cus_globex,calls,JPY,${march},750`,
    ]);
    expect(compared.output, compared.errors).to.include('2 lines, 0 differ');
    expect(compared.output).to.include('JPY: billed 750, rated 750');
  });

  // spec/beyond.md R146
  it('parity: lines of one meter are one, and what cannot be compared is named with its row', async () => {
    expect((await moveIn('csv')).code).to.equal(0);
    // 185 in three lines, as tiers are billed elsewhere; the same range as instants.
    const parts = await compare([
      `acme,calls,USD,${march},100`,
      `acme,calls,USD,${march},80`,
      'acme,calls,USD,2026-03-01T00:00:00Z,2026-04-01T00:00:00Z,5',
      `acme,storage,USD,${march},1.25`,
    ]);
    expect(parts.output, parts.errors).to.equal(
      'USD: billed 186.25, rated 186.25\n2 lines, 0 differ\n',
    );
    const faults: readonly (readonly [string, string])[] = [
      [
        'acme,calls,USD,2026-04-01,2026-03-01,1',
        "from '2026-04-01' is not before to '2026-03-01'.",
      ],
      ['acme,calls,USD,March,2026-04-01,1', "from 'March' is no date, such as 2026-03-01."],
      [`acme,calls,usd,${march},1`, "currency 'usd' is no code of a currency, such as USD."],
      [`acme,calls,USD,${march},"1,50"`, "amount '1,50' is no decimal number, such as 12.50."],
      [`acme,,USD,${march},1`, 'meter is empty.'],
      [`nobody,calls,USD,${march},1`, 'nobody'],
    ];
    for (const [line, fault] of faults) {
      const ended = await compare([`acme,storage,USD,${march},1.25`, line]);
      expect(ended.errors).to.include('durabill: invoices.csv, line 3: ').and.include(fault);
      expect(ended.errors).not.to.include('    at ');
      expect(ended.code).to.equal(1);
    }
    const none = await compare([]);
    expect(none.errors).to.include('invoices.csv has no lines to compare.');
    expect(none.code).to.equal(1);
  });
});
