import { definitionWorkflow } from '../messages/definitions/definition-run.js';
import type { Scope } from '../kernel/scope.js';
import { isExecutionOf } from '../queries/flows/execution.js';
import {
  findDefinition,
  findExecutedDefinition,
  type DefinedWorkflow,
} from '../queries/workflows/definition.js';
import { problem } from '../kernel/problem.js';
import type { Flow } from '../schemas/flows/flow.js';
import {
  flowIdOf,
  isOfExecutionsAlone,
  jobs,
  operationWorkflows,
} from '../schemas/flows/flow-id.js';
import { flowList, publicNameOf, type FlowWorkflow } from '../schemas/flows/index.js';

/** A flow with the names that callers know it by. */
export interface KnownFlow {
  readonly workflow: FlowWorkflow;
  readonly flow: Flow;
  /** The same on every installation (spec/flows.md R11). */
  readonly flowId: string;
  readonly name: string;
}

export const knownFlows: readonly KnownFlow[] = flowList.map(([workflow, flow]) => ({
  workflow,
  flow,
  name: publicNameOf(workflow),
  flowId: flowIdOf(flow.slug),
}));

/** A workflow that is executed by its name alone; it has no slug. */
export type KnownJob = (typeof jobs)[number] & {
  readonly flowId: string;
};

/** Whatever `POST /v1/workflows/{workflowId}/execute` executes. */
export type KnownWorkflow = KnownFlow | KnownJob;

export const knownWorkflows: readonly KnownWorkflow[] = [
  ...knownFlows,
  ...jobs.map((job) => ({ ...job, flowId: flowIdOf(job.name) })),
];

/** A workflow that a tenant has defined, or had. */
interface ExecutedDefinition {
  /** As executions are kept. */
  readonly workflow: string;
  readonly name: string;
  readonly flowId: string;
}

/** The same with the definition that executions begin with. */
export interface DefinedFlow extends ExecutedDefinition {
  readonly defined: DefinedWorkflow;
}

const executedOf = ({ id, name }: Pick<DefinedWorkflow, 'id' | 'name'>): ExecutedDefinition => ({
  workflow: definitionWorkflow(id),
  name,
  flowId: id,
});

/** The workflow of a tenant with this id or name; undefined: it has none. */
async function findDefined(scope: Scope, key: string): Promise<DefinedFlow | undefined> {
  const defined = await findDefinition(scope, key);
  return defined && { ...executedOf(defined), defined };
}

/** Whatever has executions that callers read. */
export type RecordedWorkflow =
  | KnownWorkflow
  | ExecutedDefinition
  | ((typeof operationWorkflows)[number] & { readonly flowId: string });

/** Of these, the one of an id or name; undefined: there is none. */
const lookUp = <T extends RecordedWorkflow>(known: readonly T[], key: string): T | undefined =>
  known.find(({ flowId, name }) => flowId === key.toLowerCase() || name === key);

/** The same. 404: there is none. */
function requireKnown<T extends RecordedWorkflow>(known: readonly T[], key: string): T {
  const found = lookUp(known, key);
  if (found) return found;
  throw problem.notFound(`There is no workflow '${key.slice(0, 200)}'.`);
}

const recorded: readonly RecordedWorkflow[] = [
  ...knownWorkflows,
  ...operationWorkflows.map((each) => ({ ...each, flowId: flowIdOf(each.name) })),
];

export const findFlow = (key: string): KnownFlow => requireKnown(knownFlows, key);
export const findWorkflow = (key: string): KnownWorkflow => requireKnown(knownWorkflows, key);

/** What is built in, or else of the tenant. 404: there is neither. */
export const findExecutable = async (
  scope: Scope,
  key: string,
): Promise<KnownWorkflow | DefinedFlow> =>
  lookUp(knownWorkflows, key) ?? (await findDefined(scope, key)) ?? findWorkflow(key);

/**
 * The same with what has executions: what operations of their own start, and what was deleted. A name that
 * became built in later is still that of the tenant's own workflow; an execution of what is built in is
 * found under it, too (docs/decisions/0542).
 */
export async function findExecuted(
  scope: Scope,
  key: string,
  executionId?: string,
): Promise<RecordedWorkflow> {
  const builtIn = lookUp(recorded, key);
  if (builtIn && !isOfExecutionsAlone(key)) return builtIn;
  const own = await findExecutedDefinition(scope, key);
  if (!own) return builtIn ?? requireKnown(recorded, key);
  const isOfBuiltIn =
    builtIn !== undefined &&
    executionId !== undefined &&
    (await isExecutionOf(scope, builtIn.workflow, executionId));
  return isOfBuiltIn ? builtIn : executedOf(own);
}
