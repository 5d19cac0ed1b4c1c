import { Decimal } from '../../kernel/numbers/money.js';
import { ApiClient } from './api-client.js';
import { minorDigits } from './book.js';
import { readCsv } from './csv-book.js';

export interface ParityOptions {
  readonly tenant: string;
  readonly against: string;
  readonly url?: string;
  readonly tolerance: string;
  readonly receipts: boolean;
}

/** A line of what the other system has billed. */
interface BilledLine {
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

const linesOf = async (path: string): Promise<BilledLine[]> =>
  (await readCsv(path, columns)).map((row, index) => {
    const { customer = '', meter = '', currency = '', from = '', to = '', amount = '' } = row;
    if (!/^-?\d+(\.\d+)?$/.test(amount)) {
      throw new Error(`${path}, row ${index + 1}: the amount '${amount}' is no decimal number.`);
    }
    return { customer, meter, currency, from, to, amount: new Decimal(amount) };
  });

/** What was rated, rounded as an invoice item is: once, to the minor units, half away from zero. */
const rounded = (amount: Decimal, currency: string): Decimal =>
  amount.toDecimalPlaces(minorDigits(currency), Decimal.ROUND_HALF_UP);

/**
 * Compares what another system has billed with what was rated here, line by line, and prints where they
 * differ; the exit code is then 1. What was rated here of a customer in a period and billed there not at
 * all is a difference, too.
 */
export async function compareFromTerminal(options: ParityOptions): Promise<void> {
  const lines = await linesOf(options.against);
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
    const key = JSON.stringify([line.customer, line.from, line.to]);
    periods.set(key, [...(periods.get(key) ?? []), line]);
  }
  const names = new Map<string, string>();
  const compared: Compared[] = [];
  for (const own of periods.values()) {
    const [{ customer, from, to } = { customer: '', from: '', to: '' }] = own;
    const query = new URLSearchParams({ account: customer, from, to, groupBy: 'service' });
    const { data } = await api.get<{ data: readonly Total[] }>(`/v1/usage?${query}&limit=1000`);
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
      const line = { customer, meter, currency, from, to, amount: new Decimal(0) };
      compared.push(comparedOf(line, total, false));
    }
  }
  return compared;
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
          readonly rate: string;
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
        process.stdout.write(
          `      tier ${tier.tierNum}: ${tier.volume} at ${tier.rate} = ${tier.amount}\n`,
        );
      }
    }
    process.stdout.write(`    amount ${String(amount)}\n`);
  }
}
