/** A tenant's workflow, in the structure of the Open Workflow Specification 1.0 (docs/decisions/0410). */
export interface Definition {
  readonly document: {
    readonly dsl: string;
    readonly namespace: string;
    readonly name: string;
    readonly version: string;
    readonly title?: string;
    readonly summary?: string;
  };
  readonly input?: { readonly schema?: InputSchema };
  readonly output?: { readonly as: unknown };
  readonly do: TaskList;
  readonly schedule?: Schedule;
}

export interface InputSchema {
  readonly format: 'json';
  readonly document: unknown;
}

export interface Schedule {
  readonly on?: { readonly one: { readonly with: EventFilter } };
  readonly cron?: string;
  readonly timeZone?: string;
}

/** An event by its kind; `data` is a condition on what it says. */
export interface EventFilter {
  readonly type: string;
  readonly data?: string;
}

/** Tasks in their order; each item has one name. */
export type TaskList = readonly Readonly<Record<string, Task>>[];

export interface CallSpec {
  readonly call: string;
  readonly with?: unknown;
}

export interface TaskCommon {
  readonly if?: string;
  readonly input?: { readonly schema?: InputSchema; readonly from?: unknown };
  readonly output?: { readonly as: unknown };
  readonly export?: { readonly as: unknown };
  readonly then?: string;
  /** What takes back what the task did, when the execution fails later. */
  readonly 'durabill.undo'?: CallSpec;
}

export interface CatchSpec {
  readonly errors?: { readonly with?: Readonly<Record<string, unknown>> };
  readonly as?: string;
  readonly when?: string;
  readonly exceptWhen?: string;
  readonly retry?: {
    readonly delay?: DurationSpec;
    readonly backoff?: {
      readonly constant?: object;
      readonly linear?: object;
      readonly exponential?: object;
    };
    readonly limit?: { readonly attempt?: { readonly count?: number } };
  };
  readonly do?: TaskList;
}

export interface SwitchCase {
  readonly when?: string;
  readonly then: string;
}

export interface Task extends TaskCommon {
  readonly call?: string;
  readonly with?: unknown;
  readonly do?: TaskList;
  readonly for?: { readonly each?: string; readonly in: string; readonly at?: string };
  readonly while?: string;
  readonly fork?: { readonly branches: TaskList; readonly compete?: boolean };
  readonly switch?: readonly Readonly<Record<string, SwitchCase>>[];
  readonly set?: unknown;
  readonly try?: TaskList;
  readonly catch?: CatchSpec;
  readonly raise?: { readonly error: Readonly<Record<string, unknown>> };
  readonly wait?: DurationSpec;
  readonly listen?: {
    readonly to: {
      readonly one?: { with: EventFilter };
      readonly any?: readonly { with: EventFilter }[];
    };
    readonly timeout?: DurationSpec;
    readonly read?: 'data' | 'envelope';
  };
  readonly emit?: {
    readonly event: { readonly with: { readonly type: string; readonly data?: unknown } };
  };
}

/** ISO 8601, or its parts. */
export type DurationSpec = string | Readonly<Record<string, number>>;

/** The kinds of tasks, each by the property that names it; `for` stands before the `do` that it has. */
export const taskKinds = [
  'call',
  'for',
  'do',
  'fork',
  'switch',
  'set',
  'try',
  'raise',
  'wait',
  'listen',
  'emit',
] as const;
export type TaskKind = (typeof taskKinds)[number];

export const kindOf = (task: Task): TaskKind | undefined =>
  taskKinds.find((kind) => Object.hasOwn(task, kind));

/** What a definition and an execution of it may have at most (spec/beyond.md R331). */
export const definitionLimits = {
  bytes: 131_072,
  tasks: 200,
  depth: 20,
  turns: 1_000,
  taskRuns: 10_000,
  branches: 20,
  stateBytes: 262_144,
  /** Of an input; in bytes of JSON, as all that follow. */
  inputBytes: 524_288,
  /** Of what a call is given: a body of what is kept, and what stands beside it. */
  givenBytes: 1_048_576,
  /** Of what takes tasks back and is carried on: what is more is kept elsewhere. */
  undoBytes: 262_144,
  /** Of what is kept elsewhere, of an execution and of all that run of a tenant. */
  undoBytesKept: 67_108_864,
  undoBytesOfTenant: 1_073_741_824,
  /** Of the same in executions that began before it was kept elsewhere: characters, and no more is possible. */
  undoBytesCarried: 524_288,
  /** Of the names of tasks that were taken back: of more the number is told. */
  undoneBytes: 262_144,
  /** Of all that goes from one history to the next, beside the input and the definition: Temporal takes 2 MiB. */
  carriedBytes: 1_310_720,
  /** Of all expressions of an execution together: about a minute of a processor. */
  cost: 50_000_000,
  /** Of those of one task, which nobody else has a turn between: as much as others wait for at once. */
  taskCost: 500_000,
  ms: 31 * 24 * 3_600_000,
} as const;

/** The expression in a text that is one, `${ ... }`; undefined for any other text. */
export function expressionIn(text: string): string | undefined {
  const trimmed = text.trim();
  if (!trimmed.startsWith('${') || !trimmed.endsWith('}')) return undefined;
  return trimmed.slice(2, -1).trim();
}

const unitMs: Readonly<Record<string, number>> = {
  days: 86_400_000,
  hours: 3_600_000,
  minutes: 60_000,
  seconds: 1_000,
  milliseconds: 1,
};
const isoDuration = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,3})?)S)?)?$/;

/** Milliseconds of a duration; undefined for what is none. */
export function durationMs(spec: DurationSpec): number | undefined {
  if (typeof spec !== 'string') {
    return Object.entries(spec).reduce(
      (sum, [unit, count]) => sum + count * (unitMs[unit] ?? 0),
      0,
    );
  }
  const match = isoDuration.exec(spec);
  if (!match || spec.endsWith('P') || spec.endsWith('T')) return undefined;
  const [, days = '0', hours = '0', minutes = '0', seconds = '0'] = match;
  return (
    Number(days) * 86_400_000 +
    Number(hours) * 3_600_000 +
    Number(minutes) * 60_000 +
    Math.round(Number(seconds) * 1_000)
  );
}
