import { problem } from '../kernel/problem.js';
import type { Flow } from '../schemas/flows/flow.js';
import { flowIdOf, jobs } from '../schemas/flows/flow-id.js';
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

/** Runs a flow for many start nodes: it has executions, and is started by the flow's slug alone. */
const flowBatch = {
  workflow: 'runFlowBatch',
  name: 'flow-batch',
  flowId: flowIdOf('flow-batch'),
} as const;

/** Moves the time of a sandbox: `POST /v1/clock` alone starts it. */
const clockMove = {
  workflow: 'moveClock',
  name: 'move-clock',
  flowId: flowIdOf('move-clock'),
} as const;

/** What is started by an operation of its own. */
const corrections = [
  { workflow: 'cancelUsageEvent', name: 'cancel-usage-event' },
  { workflow: 'amendUsageEvent', name: 'amend-usage-event' },
] as const;

/** Whatever has executions that callers read. */
export type RecordedWorkflow =
  | KnownWorkflow
  | typeof flowBatch
  | typeof clockMove
  | ((typeof corrections)[number] & { readonly flowId: string });

/** Of these, the one of an id or name. 404: there is none. */
function find<T extends RecordedWorkflow>(known: readonly T[], key: string): T {
  const found = known.find(({ flowId, name }) => flowId === key.toLowerCase() || name === key);
  if (found) return found;
  throw problem.notFound(`There is no workflow '${key}'.`);
}

export const findFlow = (key: string): KnownFlow => find(knownFlows, key);
export const findWorkflow = (key: string): KnownWorkflow => find(knownWorkflows, key);
export const findRecorded = (key: string): RecordedWorkflow =>
  find<RecordedWorkflow>(
    [
      ...knownWorkflows,
      flowBatch,
      clockMove,
      ...corrections.map((each) => ({ ...each, flowId: flowIdOf(each.name) })),
    ],
    key,
  );
