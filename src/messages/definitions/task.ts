import { isObject } from '../../kernel/expression/json-schema-check.js';
import type { CredentialRef } from '../../kernel/scope.js';

/** How a run of a task stands. */
export type TaskStatus = 'running' | 'completed' | 'failed' | 'skipped' | 'canceled';

/** An error of a task, as the specification has it. */
export interface TaskFault {
  readonly type: string;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  /** The path of the task. */
  readonly instance: string;
}

/** A run of a task, as the timeline shows it. */
export interface TaskRow {
  /** Which run of a task of the execution it is, from 1. */
  readonly seq: number;
  readonly path: string;
  readonly name: string;
  readonly kind: string;
  readonly status: TaskStatus;
  readonly startedAt: string;
  readonly endedAt?: string | undefined;
  readonly attempts: number;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly error?: TaskFault | undefined;
}

/** A run of a task as it is kept: values are JSON, cut where it is long. */
export interface KeptTask extends Omit<TaskRow, 'input' | 'output' | 'error'> {
  readonly input: string | null;
  readonly output: string | null;
  readonly error: string | null;
}

/** Characters of what a task was given and gave that are kept; few, once there are many tasks. */
const shownMax = { first: 8_000, later: 500 };
const firstTasks = 100;

/** JSON of a value; of one that is long, how long it is. */
function shown(value: unknown, seq: number): string | null {
  if (value === undefined) return null;
  const text = JSON.stringify(value);
  const max = seq <= firstTasks ? shownMax.first : shownMax.later;
  return text.length <= max ? text : JSON.stringify({ cut: true, characters: text.length });
}

/** What is kept of rows: each run of a task once, as it stands after all of them. */
export function keptTasks(rows: readonly TaskRow[]): KeptTask[] {
  const last = new Map<number, TaskRow>();
  for (const row of rows) {
    const known = last.get(row.seq);
    const { input = known?.input, output = known?.output } = row;
    last.set(row.seq, { ...row, input, output });
  }
  // In their order: steps that keep the same ones side by side lock them one after the other.
  const inOrder = [...last.values()].sort((one, other) => one.seq - other.seq);
  return inOrder.map((row) => ({
    ...row,
    input: shown(row.input, row.seq),
    output: shown(row.output, row.seq),
    error: shown(row.error, row.seq),
  }));
}

/** What a call asks for, its expressions evaluated. */
export interface TaskCall {
  readonly seq: number;
  readonly call: string;
  readonly with: unknown;
  /** Whether it takes back what another did. */
  readonly isUndo: boolean;
  /** What stands for secrets in `with`; undefined: none is used. */
  readonly secretMark?: string | undefined;
  /** How runs of tasks stand before the call: they are kept with it. */
  readonly rows?: readonly KeptTask[];
}

/** What takes back a task that was done. */
export interface Undo {
  readonly seq: number;
  readonly path: string;
  readonly call: string;
  readonly with: unknown;
  /** With what it would be called could not be said. */
  readonly isLost?: boolean;
}

/** Some of these, in the order in which what they take back was done. */
export interface KeptUndos {
  /** From 1; a later one is called before it. */
  readonly block: number;
  readonly calls: readonly Undo[];
}

/** The value that a call gives a secret; undefined: it gives none. */
export function putValueOf({ call, with: given }: Pick<TaskCall, 'call' | 'with'>) {
  if (call !== 'durabill.operation' || !isObject(given)) return undefined;
  const { operationId, body } = given;
  if (operationId !== 'putSecret' || !isObject(body)) return undefined;
  const { value } = body;
  return typeof value === 'string' ? value : undefined;
}

/** An operation that a definition calls in the process that has its handlers. */
export interface OperationCall {
  readonly identity: {
    readonly tenantId: string;
    readonly orgId: string | null;
    readonly roles: readonly string[];
    readonly subject: string;
  };
  /** That of whoever published the version. */
  readonly credential: CredentialRef;
  readonly requestId: string;
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  /** The same call again has the same key. */
  readonly key: string;
  /** How deep executions of definitions call each other. */
  readonly depth: number;
  /** Who started the first of them. */
  readonly starter: string;
}

/** Calls an operation with all checks that HTTP has; the answer is JSON. Throws its problem. */
export type CallOperation = (call: OperationCall) => Promise<unknown>;

const types = 'https://serverlessworkflow.io/spec/1.0.0/errors';

/** The errors of the specification by their status; others are of communication. */
export function faultType(status: number): string {
  if (status === 400) return `${types}/validation`;
  if (status === 401 || status === 403) return `${types}/authorization`;
  if (status === 408 || status === 504) return `${types}/timeout`;
  return status === 500 ? `${types}/runtime` : `${types}/communication`;
}

export const expressionFaultType = `${types}/expression`;

/** The name of the task at a path. */
export const nameIn = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** What a call does, in a line for people. It has no values: those may be personal, or secret. */
export function callSummary(path: string, call: string, given: unknown): string {
  const { operationId, method } = (given ?? {}) as Readonly<Record<string, unknown>>;
  const what =
    call === 'durabill.operation' ? operationId : call === 'http' ? `http ${String(method)}` : call;
  return `${nameIn(path)}: ${String(what)}`.slice(0, 200);
}
