/** What an execution of a tenant's workflow is given. */
export interface DefinitionInput {
  readonly definitionId: string;
  readonly version: number;
  /** The input of the definition. */
  readonly start: Readonly<Record<string, unknown>>;
  /** What an event says was more than an input may be, and so was left out. */
  readonly isStartTooLong?: boolean | undefined;
  /** How many executions of definitions called each other to come here. */
  readonly depth: number;
  /** Who started the first of them; left out: whoever started this one. */
  readonly starter?: string | undefined;
}

/** Executions of a tenant's definitions that run at once, those that wait among them (spec/beyond.md R357). */
export const runningMax = 10_000;

/** Executions of definitions that may call each other. */
export const depthMax = 5;

const prefix = 'runDefinition';

/** The workflow of an execution as the database has it: each definition is one of its own. */
export const definitionWorkflow = (definitionId: string): string => `${prefix}/${definitionId}`;

/** The definition whose execution it is; undefined: it is built in. */
export const definitionOf = (workflow: string): string | undefined =>
  workflow.startsWith(`${prefix}/`) ? workflow.slice(prefix.length + 1) : undefined;

/** The end of the workflow id of an execution, behind the tenant: its definition and itself. */
export const definitionRunKey = (definitionId: string, executionId: string): string =>
  `workflow/${definitionId}/${executionId}`;

/** What of its input the workflow id of an execution tells; nothing where it is built in. */
export function inputInWorkflowId(workflowId: string): Partial<DefinitionInput> {
  const [, definitionId] = /\/workflow\/([0-9a-f-]{36})\/[0-9a-f-]{36}$/.exec(workflowId) ?? [];
  return definitionId === undefined ? {} : { definitionId };
}

/** The task queue of definitions: what tenants define never delays what the product does. */
export const definitionQueue = (taskQueue: string): string => `${taskQueue}-definitions`;

/** The workflow of an execution as the database has it, by its type in Temporal and its input. */
export function recordedAs(type: string, input: unknown): string {
  const { definitionId } = (input ?? {}) as Partial<DefinitionInput>;
  return type === prefix && definitionId !== undefined ? definitionWorkflow(definitionId) : type;
}
