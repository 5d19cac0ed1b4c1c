import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import cliProgress from 'cli-progress';
import { parseJson, stringifyJson } from '../../kernel/text/json.js';
import { issueForCommand } from '../access/named-tenant.js';
import { instanceAddresses, withInstance } from '../start/instance.js';

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

type Call = <T>(path: string, body?: string) => Promise<T>;

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

function printResult(output: Output, accounts: readonly Account[]): void {
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
        `  ${limit} ${max.toString()} %: ${accountId ?? 'total'} ${currency} ${percentText(of)}`,
    ),
  ];
  console.log(parts.join('\n\n'));
}

/** The request, its changes as they were given, so that numbers keep all their digits. */
async function bodyOf(options: WhatIfOptions): Promise<string> {
  const { name, from, to, account, service, accountChangeMax, totalDecreaseMax } = options;
  const changes =
    options.changes === '-' ? await text(process.stdin) : await readFile(options.changes, 'utf8');
  if (!Array.isArray(JSON.parse(changes))) throw new Error('The changes are no JSON array.');
  const guard = {
    accountChangeMax: numberOf('--account-change-max', accountChangeMax),
    totalDecreaseMax: numberOf('--total-decrease-max', totalDecreaseMax),
  };
  const data = JSON.stringify({ name, from, to, accountIds: account, serviceIds: service, guard });
  return `{"async":true,"data":${data.slice(0, -1)},"changes":${changes}}}`;
}

function numberOf(option: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(given)) return Number(given);
  throw new Error(`${option} is a percent such as 25, not '${given}'.`);
}

async function watch(call: Call, executionId: string): Promise<Execution> {
  const bar = new cliProgress.SingleBar({
    format: 'rating {bar} {value} of about {total} events',
    hideCursor: true,
    clearOnComplete: false,
  });
  bar.start(0, 0);
  try {
    for (;;) {
      const ended = await call<Execution>(`/v1/workflows/reprice/executions/${executionId}`);
      // Its first step may not have run yet.
      const progress = await call<Progress>(`/v1/repricings/${executionId}`).catch(() => null);
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
  const { apiUrl } = await instanceAddresses();
  const given = { orgId: null, roles: ['OPERATOR'], expiresInSeconds: 86_400 };
  const token = await withInstance((access) => issueForCommand(access, options.tenant, given));
  const call = async <T>(path: string, content?: string): Promise<T> => {
    const answer = await fetch(`${apiUrl}${path}`, {
      ...(content === undefined ? {} : { method: 'POST', body: content }),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
    const read = parseJson(await answer.text());
    if (answer.ok) return read as T;
    const { error } = read as { readonly error?: { readonly message: string } };
    throw new Error(error?.message ?? `The API answers ${answer.status}.`);
  };
  const { executionId } = await call<Execution>('/v1/workflows/reprice/execute', body);
  const ended = await watch(call, executionId);
  if (ended.status !== 'completed' || !ended.output) {
    throw new Error(ended.error?.message ?? `The execution is ${ended.status}.`);
  }
  const { output } = ended;
  if (output.guard.passed === false) process.exitCode = 2;
  if (options.json === true) return console.log(stringifyJson(output));
  const accounts = await call<{ readonly data: readonly Account[] }>(
    `/v1/repricings/${output.repricingId}/accounts?sort=change:desc&limit=${accountsShown}`,
  );
  printResult(output, accounts.data);
}
