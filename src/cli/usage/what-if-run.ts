import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import cliProgress from 'cli-progress';
import { stringifyJson } from '../../kernel/text/json.js';
import { ApiClient } from '../moving-in/api-client.js';
import { namesOf } from './account-names.js';

export interface WhatIfOptions {
  readonly tenant: string;
  readonly from: string;
  readonly to: string;
  readonly changes: string;
  readonly name: string;
  readonly account?: readonly string[];
  readonly service?: readonly string[];
  readonly accountChangeMax?: string;
  readonly totalDecreaseMax?: string;
  readonly json?: true;
  readonly url?: string;
}

/** Amounts and percents as they come: numbers, or decimals with more digits. */
type Amount = number | { toString(): string };

interface Sum {
  readonly currency: string;
  readonly amount: Amount;
}

interface Violation {
  readonly limit: string;
  readonly max: Amount;
  readonly accountId: string | null;
  readonly currency: string;
  readonly change: Amount | null;
}

interface Output {
  readonly repricingId: string;
  readonly events: number;
  readonly accounts: number;
  readonly rejected: readonly { readonly code: string; readonly events: number }[];
  readonly before: readonly Sum[];
  readonly after: readonly Sum[];
  readonly change: Readonly<Record<string, Amount | null>>;
  readonly guard: { readonly passed: boolean; readonly violations: readonly Violation[] };
}

interface Execution {
  readonly executionId: string;
  readonly status: string;
  readonly output: Output | null;
  readonly error?: { readonly message: string } | null;
}

interface Progress {
  readonly eventsDone: number;
  readonly eventsTotal: number;
}

interface Account {
  readonly accountId: string;
  readonly name: string | null;
  readonly currency: string;
  readonly before: Amount;
  readonly after: Amount;
  readonly change: Amount | null;
}

const pollMs = 500;
const accountsShown = 10;

/** Columns as wide as what stands in them; numbers stand at the right. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_cell, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return column === 0 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd();
  return rows.map(line).join('\n');
}

const percentText = (of: Amount | null | undefined): string =>
  of === null || of === undefined ? '-' : `${of.toString()} %`;

function printResult(
  output: Output,
  accounts: readonly Account[],
  names: ReadonlyMap<string, string>,
): void {
  const { before, after, change, guard, rejected, events, repricingId } = output;
  const sums = before.map(({ currency, amount }): string[] => [
    currency,
    amount.toString(),
    (after.find((sum) => sum.currency === currency)?.amount ?? 0).toString(),
  ]);
  const spread = Object.entries(change).map(([name, of]): string[] => [name, percentText(of)]);
  const shown = accounts.map((one): string[] => [
    one.name ?? one.accountId,
    one.currency,
    one.before.toString(),
    one.after.toString(),
    percentText(one.change),
  ]);
  const parts = [
    `${events} events of ${output.accounts} accounts, repricing ${repricingId}`,
    table([['total', 'before', 'after'], ...sums]),
    table([['change of accounts', 'percent'], ...spread]),
    table([['account', 'currency', 'before', 'after', 'change'], ...shown]),
    ...rejected.map((each) => `${each.events} events keep their charges: ${each.code}`),
    guard.passed ? 'The guard passes.' : 'The guard does not pass:',
    ...guard.violations.map(
      ({ limit, max, accountId, currency, change: of }) =>
        `  ${limit} ${max.toString()} %: ${names.get(accountId ?? '') ?? 'total'} ${currency} ${percentText(of)}`,
    ),
  ];
  console.log(parts.join('\n\n'));
}

/** The request, its changes as they were given, so that numbers keep all their digits. */
async function bodyOf(options: WhatIfOptions): Promise<string> {
  const { name, from, to, account, service, accountChangeMax, totalDecreaseMax } = options;
  const changes = await readChanges(options.changes);
  const guard = {
    accountChangeMax: numberOf('--account-change-max', accountChangeMax),
    totalDecreaseMax: numberOf('--total-decrease-max', totalDecreaseMax),
  };
  const data = JSON.stringify({ name, from, to, accountIds: account, serviceIds: service, guard });
  return `{"async":true,"data":${data.slice(0, -1)},"changes":${changes}}}`;
}

/** The text of a JSON array. */
async function readChanges(file: string): Promise<string> {
  try {
    const changes = file === '-' ? await text(process.stdin) : await readFile(file, 'utf8');
    if (!Array.isArray(JSON.parse(changes))) throw new Error('this is no array');
    return changes;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`--changes needs a file with a JSON array: ${why}`, { cause: error });
  }
}

function numberOf(option: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(given)) return Number(given);
  throw new Error(`${option} is a percent such as 25, not '${given}'.`);
}

async function watch(api: ApiClient, executionId: string): Promise<Execution> {
  const bar = new cliProgress.SingleBar({
    format: 'rating {bar} {value} of about {total} events',
    hideCursor: true,
    clearOnComplete: false,
  });
  bar.start(0, 0);
  try {
    for (;;) {
      const ended = await api.get<Execution>(`/v1/workflows/reprice/executions/${executionId}`);
      // Its first step may not have run yet.
      const progress = await api.find<Progress>(`/v1/repricings/${executionId}`);
      if (progress) {
        bar.setTotal(progress.eventsTotal);
        bar.update(progress.eventsDone);
      }
      if (ended.status !== 'running') return ended;
      await wait(pollMs);
    }
  } finally {
    bar.stop();
  }
}

/** Rates usage with changes over the API of the running instance, and prints what it would come to. */
export async function tryFromTerminal(options: WhatIfOptions): Promise<void> {
  const body = await bodyOf(options);
  const api = await ApiClient.open(options.tenant, options.url);
  const { executionId } = await api.post<Execution>('/v1/workflows/reprice/execute', body);
  const ended = await watch(api, executionId);
  if (ended.status !== 'completed' || !ended.output) {
    throw new Error(ended.error?.message ?? `The execution is ${ended.status}.`);
  }
  const { output } = ended;
  if (output.guard.passed === false) process.exitCode = 2;
  if (options.json === true) return console.log(stringifyJson(output));
  const accounts = await api.get<{ readonly data: readonly Account[] }>(
    `/v1/repricings/${output.repricingId}/accounts?sort=change:desc&limit=${accountsShown}`,
  );
  const refused = output.guard.violations.flatMap(({ accountId }) => accountId ?? []);
  printResult(output, accounts.data, await namesOf(api, refused));
}
