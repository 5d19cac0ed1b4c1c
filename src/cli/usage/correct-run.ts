import { setTimeout as wait } from 'node:timers/promises';
import { Decimal } from '../../kernel/numbers/money.js';
import { stringifyJson } from '../../kernel/text/json.js';
import { ApiClient } from '../moving-in/api-client.js';
import { namesOf } from './account-names.js';

export interface CorrectOptions {
  readonly tenant: string;
  readonly reason: string;
  readonly cancel?: string;
  readonly amend?: string;
  readonly message?: string;
  readonly from?: string;
  readonly to?: string;
  readonly account?: string;
  readonly contract?: string;
  readonly service?: string;
  readonly dryRun?: true;
  readonly json?: true;
  readonly url?: string;
}

interface EventCorrected {
  readonly eventId: string;
  readonly status: string;
  readonly correctionId: string | null;
}

interface Sum {
  readonly currency: string;
  readonly amount: Decimal | number;
}

interface Figures {
  readonly events: number;
  readonly changed: number;
  readonly rejected: readonly { readonly code: string; readonly events: number }[];
  readonly before: readonly Sum[];
  readonly after: readonly Sum[];
  readonly accounts: readonly {
    readonly accountId: string;
    readonly currency: string;
    readonly before: Decimal | number;
    readonly after: Decimal | number;
  }[];
}

interface Answer {
  readonly executionId: string;
  readonly status: string;
  readonly output: (Figures & { readonly correctionId: string | null }) | null;
  readonly error?: { readonly message: string } | null;
}

const pollMs = 500;

/** What is asked for: exactly one of an event that goes, one that is amended, and a range. */
function requestOf(options: CorrectOptions): { readonly path: string; readonly body: object } {
  const { reason, cancel, amend, message, from, to } = options;
  const asked = [cancel, amend, from].filter((given) => given !== undefined).length;
  if (asked !== 1) throw new Error('Give one of --cancel, --amend and --from with --to.');
  if (from === undefined) requireRangeFor(options);
  const event = (id: string, way: string): string =>
    `/v1/usage-events/${encodeURIComponent(id)}/${way}`;
  if (cancel !== undefined) return { path: event(cancel, 'cancel'), body: { reason } };
  if (amend !== undefined) {
    if (message === undefined) throw new Error('--amend needs the content: --message.');
    // As it was given, so that numbers keep all their digits.
    requireJson(message);
    return { path: event(amend, 'amend'), body: { reason, message } };
  }
  if (to === undefined) throw new Error('--from needs --to.');
  const data = {
    from,
    to,
    reason,
    dryRun: options.dryRun === true,
    accountId: options.account,
    contractId: options.contract,
    serviceId: options.service,
  };
  return { path: '/v1/workflows/rerate-usage/execute', body: { data, async: true } };
}

/** What is only of a range would be left out without a word. */
function requireRangeFor(options: CorrectOptions): void {
  for (const name of ['dryRun', 'to', 'account', 'contract', 'service'] as const) {
    if (options[name] === undefined) continue;
    const option = name === 'dryRun' ? 'dry-run' : name;
    throw new Error(`--${option} is for a range: --from with --to.`);
  }
}

function requireJson(message: string): void {
  try {
    JSON.parse(message);
  } catch (error) {
    throw new Error(`--message is no JSON: ${(error as Error).message}`, { cause: error });
  }
}

/** A body whose `message` is JSON already. */
const textOf = ({ message, ...body }: { readonly message?: unknown }): string => {
  const text = JSON.stringify(body);
  return typeof message === 'string' ? `${text.slice(0, -1)},"message":${message}}` : text;
};

/** Corrects usage over the API of the running instance, and prints what came of it. */
export async function correctFromTerminal(options: CorrectOptions): Promise<void> {
  const { path, body } = requestOf(options);
  const api = await ApiClient.open(options.tenant, options.url);
  const isJson = options.json === true;
  if (options.from === undefined) {
    const done = await telling('correcting', () =>
      api.postUntilDone<EventCorrected>(path, textOf(body)),
    );
    if (isJson) return console.log(stringifyJson(done));
    console.log(`event ${done.eventId} is ${done.status}`);
    if (done.correctionId === null) return console.log('it was rejected: there is no correction');
    const found = await api.get<Figures>(`/v1/corrections/${done.correctionId}`);
    return printFigures(api, done.correctionId, found);
  }
  const started = await api.post<Answer>(path, textOf(body));
  const ended = await telling('rating again', () => waitForEnd(api, started));
  if (ended.status !== 'completed' || !ended.output) {
    throw new Error(ended.error?.message ?? `The execution is ${ended.status}.`);
  }
  if (isJson) return console.log(stringifyJson(ended.output));
  await printFigures(api, ended.output.correctionId, ended.output);
}

async function waitForEnd(api: ApiClient, started: Answer): Promise<Answer> {
  let ended = started;
  while (ended.status === 'running') {
    await wait(pollMs);
    ended = await api.get<Answer>(`/v1/workflows/rerate-usage/executions/${started.executionId}`);
  }
  return ended;
}

/** Tells somebody who looks on how long it takes. */
async function telling<T>(what: string, work: () => Promise<T>): Promise<T> {
  if (!process.stderr.isTTY) return work();
  const since = performance.now();
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - since) / 1000);
    process.stderr.write(`\r${what}, ${seconds} s; nothing is seen of it before its end `);
  }, pollMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    process.stderr.write('\r\u001b[K');
  }
}

/** Accounts that are printed. */
const accountsShownMax = 20;

const counted = (count: number, word: string): string =>
  `${count} ${count === 1 ? word : `${word}s`}`;

/** What a correction came to, as a table. */
async function printFigures(
  api: ApiClient,
  correctionId: string | null,
  { events, changed, rejected, before, after, accounts }: Figures,
): Promise<void> {
  const id = correctionId ?? 'none: a dry run writes nothing';
  console.log(`correction ${id}`);
  console.log(`${counted(events, 'event')} considered, ${changed} with other charges`);
  for (const { code, events: number } of rejected) {
    console.log(`${counted(number, 'event')} kept as charged: ${code}`);
  }
  const currencies = new Set([...before, ...after].map(({ currency }) => currency));
  const amountIn = (sums: Figures['before'], currency: string): Decimal =>
    new Decimal(sums.find((one) => one.currency === currency)?.amount ?? 0);
  const rows = [...currencies].map((currency) =>
    rowOf('all', currency, amountIn(before, currency), amountIn(after, currency)),
  );
  const changedAccounts = accounts.filter(
    (one) => !new Decimal(one.before).equals(new Decimal(one.after)),
  );
  const shown = changedAccounts.slice(0, accountsShownMax);
  const names = await namesOf(
    api,
    shown.map(({ accountId }) => accountId),
  );
  for (const { accountId, currency, before: was, after: is } of shown) {
    const name = names.get(accountId) ?? accountId;
    rows.push(rowOf(name, currency, new Decimal(was), new Decimal(is)));
  }
  const table = [['account', 'currency', 'before', 'after', 'difference'], ...rows];
  const widths = [0, 1, 2, 3, 4].map((at) =>
    Math.max(...table.map((row) => (row[at] ?? '').length)),
  );
  for (const row of table) {
    const cells = row.map((cell, at) =>
      at < 2 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
    );
    console.log(cells.join('  ').trimEnd());
  }
  const more = changedAccounts.length - accountsShownMax;
  if (more > 0) console.log(`and ${more} more accounts: --json has up to 1,000`);
}

const rowOf = (of: string, currency: string, before: Decimal, after: Decimal): string[] => [
  of,
  currency,
  before.toFixed(),
  after.toFixed(),
  after.minus(before).toFixed(),
];
