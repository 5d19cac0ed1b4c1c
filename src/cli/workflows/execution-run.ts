import { setTimeout as wait } from 'node:timers/promises';
import { stringifyJson } from '../../kernel/text/json.js';
import { ApiClient } from '../moving-in/api-client.js';
import { readInput } from './definition-file.js';
import type { LogsOptions, RunOptions } from './workflow.js';

interface Execution {
  readonly executionId: string;
  readonly status: string;
  readonly output: unknown;
  readonly error: {
    readonly message: string;
    readonly details?: { readonly undone?: readonly string[] };
  } | null;
}

interface TaskRow {
  readonly seq: number;
  readonly path: string;
  readonly name: string;
  readonly kind: string;
  readonly status: string;
  readonly error: { readonly status?: number; readonly detail?: string } | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly undoneAt: string | null;
}

/** Two requests each time: longer and longer, so that they stay below a plan's number a minute. */
const pollMs = { first: 300, most: 3_000, factor: 1.2 };
const pageSize = 1_000;

const timeOf = (at: string): string => at.slice(11, 23);

/** What a task did, in one line. */
function taskLine(task: TaskRow): string {
  const { name, kind, path, status, error, startedAt, endedAt, undoneAt } = task;
  const ms = endedAt === null ? 0 : Date.parse(endedAt) - Date.parse(startedAt);
  const took = endedAt === null ? '' : `  ${(ms / 1000).toFixed(1)} s`;
  const back = undoneAt === null ? '' : '  (undone)';
  const why = error ? `\n    ${error.status ?? ''} ${error.detail ?? ''}`.trimEnd() : '';
  return `${timeOf(endedAt ?? startedAt)}  ${status.padEnd(9)}  ${name} (${kind})  ${path}${took}${back}${why}`;
}

/** Prints tasks as they begin and end; what has ended is asked for once. */
class TaskPrinter {
  readonly #api: ApiClient;
  readonly #path: string;
  readonly #line: (task: TaskRow) => string;
  readonly #shown = new Map<number, string>();
  #ended = 0;
  #hasTasks = true;

  constructor(api: ApiClient, path: string, line: (task: TaskRow) => string) {
    this.#api = api;
    this.#path = `${path}/timeline?limit=${pageSize}`;
    this.#line = line;
  }

  async print(): Promise<void> {
    while (this.#hasTasks) {
      const page = await this.#api.find<{ readonly data: readonly TaskRow[] }>(
        `${this.#path}&offset=${this.#ended}`,
      );
      // What is built in has no tasks.
      this.#hasTasks = page !== null;
      const tasks = page?.data ?? [];
      for (const task of tasks) {
        if (this.#shown.get(task.seq) === task.status) continue;
        this.#shown.set(task.seq, task.status);
        console.log(this.#line(task));
      }
      const open = tasks.findIndex(({ endedAt }) => endedAt === null);
      this.#ended += open < 0 ? tasks.length : open;
      if (tasks.length < pageSize || open === 0) return;
    }
  }
}

/** Waits until an execution has ended, and shows its tasks meanwhile. */
async function followExecution(api: ApiClient, path: string, printer: TaskPrinter | null) {
  for (let pause = pollMs.first; ; pause = Math.min(pause * pollMs.factor, pollMs.most)) {
    const execution = await api.get<Execution>(path);
    await printer?.print();
    if (execution.status !== 'running') return execution;
    await wait(pause);
  }
}

function printEnd({ status, output, error }: Execution): void {
  if (status === 'completed') console.log(`completed\n${stringifyJson(output)}`);
  else console.log(error ? `${status}: ${error.message}` : status);
  const undone = error?.details?.undone ?? [];
  if (undone.length > 0) console.log(`undone: ${undone.join(', ')}`);
}

const pathOf = (name: string): string => `/v1/workflows/${encodeURIComponent(name)}`;

/** Executes a workflow, and shows its tasks until it has ended. */
export async function runFromTerminal(name: string, options: RunOptions): Promise<void> {
  const { tenant, key, json } = options;
  const data = await readInput(options);
  const api = await ApiClient.open(tenant);
  const body = stringifyJson({ data, async: true });
  const { executionId } = await api.post<Execution>(`${pathOf(name)}/execute`, body, key);
  const path = `${pathOf(name)}/executions/${executionId}`;
  if (json !== true) console.log(`execution ${executionId}`);
  const printer = json === true ? null : new TaskPrinter(api, path, taskLine);
  const ended = await followExecution(api, path, printer);
  if (json === true) console.log(stringifyJson(ended));
  else printEnd(ended);
  if (ended.status !== 'completed') process.exitCode = 1;
}

/** Shows the tasks of an execution. */
export async function logsFromTerminal(
  name: string,
  given: string | undefined,
  { tenant, follow: isFollowed, json }: LogsOptions,
): Promise<void> {
  const api = await ApiClient.open(tenant);
  const all = `${pathOf(name)}/executions`;
  const latest = async (): Promise<string | undefined> =>
    (await api.get<{ readonly data: readonly Execution[] }>(`${all}?limit=1`)).data[0]?.executionId;
  const executionId = given ?? (await latest());
  if (executionId === undefined) throw new Error(`'${name}' was not executed yet.`);
  const path = `${all}/${encodeURIComponent(executionId)}`;
  const printer = new TaskPrinter(
    api,
    path,
    json === true ? (task) => stringifyJson(task) : taskLine,
  );
  if (json !== true) console.log(`execution ${executionId}`);
  const execution = await api.get<Execution>(path);
  await printer.print();
  const shown = isFollowed === true ? await followExecution(api, path, printer) : execution;
  if (json !== true) printEnd(shown);
}
