import { v5 as uuidV5 } from 'uuid';
import { definitionOf } from '../../messages/definitions/definition-run.js';
import { erasureWorkflow } from '../ageing/erasure.js';
import { billingRunWorkflow } from '../billing/billing-run.js';
import { creditInvoiceWorkflow } from '../billing/credit-note.js';
import { repriceWorkflow } from '../usage/repricing.js';
import { rerateUsageWorkflow } from '../usage/usage-rerating.js';
import { usageAuditWorkflow } from '../usage/usage-audit.js';
import { flowList, flows, publicNameOf } from './index.js';

const namespace = 'b6f5c3a8-3c55-5d0e-9a55-6f3a7f0d2b11';

/** The id of a flow: the same on every installation (spec/flows.md R11). */
export const flowIdOf = (slug: string): string => uuidV5(`flow/${slug}`, namespace);

/** Workflows without a slug that callers execute by their names. */
export const jobs = [
  billingRunWorkflow,
  creditInvoiceWorkflow,
  usageAuditWorkflow,
  rerateUsageWorkflow,
  repriceWorkflow,
  erasureWorkflow,
] as const;

/** The names of all that is built in and executed by name. */
export const workflowNames: readonly string[] = [
  ...flowList.map(([workflow]) => publicNameOf(workflow)),
  ...jobs.map(({ name }) => name),
];

/** What has executions and is started by an operation of its own. */
export const operationWorkflows = [
  // Runs a flow for many start nodes: it is started by the flow's slug.
  { workflow: 'runFlowBatch', name: 'flow-batch' },
  { workflow: 'moveClock', name: 'move-clock' },
  { workflow: 'decideApproval', name: 'decide-approval' },
  { workflow: 'cancelUsageEvent', name: 'cancel-usage-event' },
  { workflow: 'amendUsageEvent', name: 'amend-usage-event' },
  { workflow: 'retryUsage', name: 'retry-usage' },
  { workflow: 'promoteRepricing', name: 'promote-repricing' },
  { workflow: 'dismissUsageEvents', name: 'dismiss-usage-events' },
] as const;

/** Names under which executions of what is built in are found: no other workflow has one of these. */
export const builtInNames: ReadonlySet<string> = new Set([
  ...workflowNames,
  ...operationWorkflows.map(({ name }) => name),
]);

/**
 * Whether only executions are found under a name that is built in, and nothing is executed by it: a
 * tenant may have published a workflow of that name before (docs/decisions/0542).
 */
export const isOfExecutionsAlone = (builtIn: string): boolean =>
  operationWorkflows.some(({ name }) => name === builtIn);

/** `rateUsage` is called `rate-usage` outside. */
const kebabCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The id under which callers know a workflow; one without a slug has it by its name. */
export function workflowIdOf(workflow: string): string {
  const definitionId = definitionOf(workflow);
  if (definitionId !== undefined) return definitionId;
  const slug = Object.hasOwn(flows, workflow) ? flows[workflow as keyof typeof flows].slug : null;
  const job = jobs.find((each) => each.workflow === workflow);
  return flowIdOf(slug ?? job?.name ?? kebabCase(workflow));
}

/** What callers call a workflow that is built in. */
export const builtInNameOf = (workflow: string): string =>
  [...jobs, ...operationWorkflows].find((each) => each.workflow === workflow)?.name ??
  publicNameOf(workflow);

export const isBuiltIn = (name: unknown): name is string =>
  typeof name === 'string' && builtInNames.has(name);

export const builtInFault = (name: string): string =>
  `'${name}' is the name of a workflow that is built in.`;
