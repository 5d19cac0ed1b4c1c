import { basename } from 'node:path';
import { Decimal } from '../../kernel/numbers/money.js';
import { instantOf } from '../../kernel/time/record-date.js';
import { ApiClient } from './api-client.js';
import { isCurrency, isDecimal, minorDigits } from './book.js';
import { readCsvRows } from './csv-file.js';

export interface ParityOptions {
  readonly tenant: string;
  readonly against: string;
  readonly url?: string;
  readonly tolerance: string;
  readonly receipts: boolean;
}

/** A line of what the other system has billed. */
interface BilledLine {
  /** Where it stands in the file, the first of several. */
  readonly place: string;
  readonly customer: string;
  readonly meter: string;
  readonly currency: string;
  /** `[from, to)`, dates or instants. */
  readonly from: string;
  readonly to: string;
  readonly amount: Decimal;
}

interface Total {
  readonly group: { readonly account?: string; readonly service?: string };
  readonly currency: string;
  readonly events: number;
  readonly quantity: Decimal | number;
  readonly amount: Decimal | number;
}

interface Compared {
  readonly line: BilledLine;
  readonly rated: Decimal;
  readonly events: number;
  readonly quantity: string;
  readonly isBilled: boolean;
}

const columns = ['customer', 'meter', 'currency', 'from', 'to', 'amount'];

/** Milliseconds since 1970 of a date or an instant; NaN: it is none. */
const timeOf = (text: string): number => Date.parse(instantOf(text) ?? '');

/** The lines of a file. Throws, and names row and column, where one cannot be compared. */
async function readLines(path: string): Promise<BilledLine[]> {
  const lines = new Map<string, BilledLine>();
  for await (const { place, cell } of readCsvRows(path, columns)) {
    const [customer, meter, currency] = [cell('customer'), cell('meter'), cell('currency')];
    const [from, to, amount] = [cell('from'), cell('to'), cell('amount')];
    const fault = faultOf({ customer, meter, currency, from, to, amount });
    if (fault !== null) throw new Error(`${place}: ${fault}.`);
    const key = JSON.stringify([customer, meter, currency, timeOf(from), timeOf(to)]);
    const known = lines.get(key);
    const sum = new Decimal(amount).plus(known?.amount ?? 0);
    // Other systems bill tiers of a meter as lines of their own.
    lines.set(key, { ...(known ?? { place, customer, meter, currency, from, to }), amount: sum });
  }
  if (lines.size === 0) throw new Error(`${basename(path)} has no lines to compare.`);
  return [...lines.values()];
}

function faultOf(row: Readonly<Record<string, string>> & { from: string; to: string }) {
  const { customer, meter, currency = '', from, to, amount = '' } = row;
  if (!customer) return 'customer is empty';
  if (!meter) return 'meter is empty';
  if (!isCurrency(currency)) return `currency '${currency}' is no code of a currency, such as USD`;
  for (const [name, text] of Object.entries({ from, to })) {
    if (Number.isNaN(timeOf(text))) return `${name} '${text}' is no date, such as 2026-03-01`;
  }
  if (timeOf(from) >= timeOf(to)) return `from '${from}' is not before to '${to}'`;
  if (!isDecimal(amount)) return `amount '${amount}' is no decimal number, such as 12.50`;
  return null;
}

/** What was rated, rounded as an invoice item is: once, to the minor units, half away from zero. */
const rounded = (amount: Decimal, currency: string): Decimal =>
  amount.toDecimalPlaces(minorDigits(currency), Decimal.ROUND_HALF_UP);

/**
 * Compares what another system has billed with what was rated here, line by line, and prints where they
 * differ; the exit code is then 1. What was rated here of a customer in a period and billed there not at
 * all is a difference, too.
 */
export async function compareFromTerminal(options: ParityOptions): Promise<void> {
  const lines = await readLines(options.against);
  const api = await ApiClient.open(options.tenant, options.url);
  const compared = await compareLines(api, lines);
  const tolerance = new Decimal(options.tolerance);
  const differing = compared.filter(({ line, rated }) =>
    rated.minus(line.amount).abs().greaterThan(tolerance),
  );
  print(compared, differing);
  if (options.receipts) for (const one of differing) await printReceipt(api, one);
  if (differing.length > 0) process.exitCode = 1;
}

/** One question for each customer and period. */
async function compareLines(api: ApiClient, lines: readonly BilledLine[]): Promise<Compared[]> {
  const periods = new Map<string, BilledLine[]>();
  for (const line of lines) {
    const key = JSON.stringify([line.customer, timeOf(line.from), timeOf(line.to)]);
    periods.set(key, [...(periods.get(key) ?? []), line]);
  }
  const names = new Map<string, string>();
  const compared: Compared[] = [];
  for (const own of periods.values()) {
    const [first] = own;
    if (!first) continue;
    const data = await totalsOf(api, first);
    const totals = new Map<string, Total>();
    for (const total of data) {
      const id = total.group.service ?? '';
      if (!names.has(id)) names.set(id, await nameOf(api, id));
      totals.set(JSON.stringify([names.get(id), total.currency]), total);
    }
    for (const line of own) {
      const key = JSON.stringify([line.meter, line.currency]);
      compared.push(comparedOf(line, totals.get(key), true));
      totals.delete(key);
    }
    for (const [key, total] of totals) {
      const [meter = '', currency = ''] = JSON.parse(key) as string[];
      const line = { ...first, meter, currency, amount: new Decimal(0) };
      compared.push(comparedOf(line, total, false));
    }
  }
  return compared;
}

async function totalsOf(
  api: ApiClient,
  { place, customer, from, to }: BilledLine,
): Promise<readonly Total[]> {
  const query = new URLSearchParams({ account: customer, from, to, groupBy: 'service' });
  try {
    return (await api.get<{ data: readonly Total[] }>(`/v1/usage?${query}&limit=1000`)).data;
  } catch (error) {
    throw new Error(`${place}: ${(error as Error).message}`, { cause: error });
  }
}

const comparedOf = (line: BilledLine, total: Total | undefined, isBilled: boolean): Compared => ({
  line,
  rated: rounded(new Decimal(total?.amount ?? 0), line.currency),
  events: total?.events ?? 0,
  quantity: String(total?.quantity ?? 0),
  isBilled,
});

const nameOf = async (api: ApiClient, id: string): Promise<string> =>
  (await api.get<{ name: string }>(`/api/v1/external/services/${id}`)).name;

function print(compared: readonly Compared[], differing: readonly Compared[]): void {
  for (const { line, rated, events, quantity, isBilled } of differing) {
    const { customer, meter, currency, from, to, amount } = line;
    const difference = rated.minus(amount);
    const billed = isBilled ? `billed ${amount.toFixed()}` : 'billed nothing';
    process.stdout.write(
      `${customer} ${meter} ${from}..${to}: ${billed}, rated ${rated.toFixed()} ${currency}, ` +
        `difference ${difference.toFixed()} (${events} events, ${quantity})\n`,
    );
  }
  const sums = new Map<string, { billed: Decimal; rated: Decimal }>();
  for (const { line, rated } of compared) {
    const known = sums.get(line.currency) ?? { billed: new Decimal(0), rated: new Decimal(0) };
    sums.set(line.currency, {
      billed: known.billed.plus(line.amount),
      rated: known.rated.plus(rated),
    });
  }
  for (const [currency, { billed, rated }] of sums) {
    process.stdout.write(`${currency}: billed ${billed.toFixed()}, rated ${rated.toFixed()}\n`);
  }
  process.stdout.write(`${compared.length} lines, ${differing.length} differ\n`);
}

interface Explained {
  readonly externalTransactionId: string;
  readonly ratedTransactions: readonly {
    readonly amount: Decimal | number;
    readonly explanation: {
      readonly rows: readonly {
        readonly quantity: string;
        readonly amount: string;
        readonly row: { readonly priceMethod: string };
        readonly counter: { readonly before: string; readonly after: string } | null;
        readonly tiers: readonly {
          readonly tierNum: number;
          readonly volume: string;
          readonly unitRate: string;
          readonly isFlat: boolean;
          readonly amount: string;
        }[];
      }[];
    };
  }[];
}

/** How the newest charge of a line came about: it says where the counter stands, and by which tiers. */
async function printReceipt(api: ApiClient, { line, events }: Compared): Promise<void> {
  if (events === 0) return;
  const { customer, meter, from, to } = line;
  const query = new URLSearchParams({
    accountId: customer,
    serviceId: meter,
    status: 'rated',
    from,
    to,
    limit: '1',
  });
  const { data } = await api.get<{ data: readonly { readonly id: string }[] }>(
    `/v1/usage-events?${query}`,
  );
  const [newest] = data;
  if (!newest) return;
  const event = await api.get<Explained>(`/v1/usage-events/${newest.id}`);
  process.stdout.write(
    `  ${customer} ${meter}, the newest event ${event.externalTransactionId}:\n`,
  );
  for (const { amount, explanation } of event.ratedTransactions) {
    for (const { row, quantity, counter, tiers, amount: price } of explanation.rows) {
      const at = counter ? `, counter ${counter.before} to ${counter.after}` : '';
      process.stdout.write(`    ${row.priceMethod} of ${quantity}${at}: ${price}\n`);
      for (const tier of tiers) {
        const rate = tier.isFlat ? `${tier.unitRate} once` : tier.unitRate;
        process.stdout.write(
          `      tier ${tier.tierNum}: ${tier.volume} at ${rate} = ${tier.amount}\n`,
        );
      }
    }
    process.stdout.write(`    amount ${String(amount)}\n`);
  }
}
