import { flowOperation, type Flow } from './flow.js';
import { flowBatchOperation } from './flow-batch.js';
import { accountFlows } from './account.js';
import { contractFlows } from './contract.js';
import { paymentFlows } from './payment.js';
import { serviceFlows } from './service.js';

/** Every flow, by the name of its workflow. */
export const flows = { ...accountFlows, ...contractFlows, ...serviceFlows, ...paymentFlows };

export type Flows = typeof flows;
export type FlowWorkflow = keyof Flows;

/** Every flow with the name of its workflow, in the order in which they are listed. */
export const flowList: readonly (readonly [FlowWorkflow, Flow])[] = Object.entries(
  flows,
) as unknown as [FlowWorkflow, Flow][];

/** `savePayment` is called `payment-save` outside (spec/flows.md R22, R30). */
export const publicNameOf = (workflow: string): string => {
  const [, verb = '', entity = ''] = /^([a-z]+)(.*)$/.exec(workflow) ?? [];
  return `${entity.toLowerCase()}-${verb}`;
};

/** The operations that run the flows, by workflow. */
export const flowOperations = Object.fromEntries(
  flowList.map(([workflow, flow]) => [workflow, flowOperation(workflow, flow)]),
) as Readonly<Record<FlowWorkflow, ReturnType<typeof flowOperation>>>;

/** The operations that run them for many start nodes at once, by workflow. */
export const flowBatchOperations = Object.fromEntries(
  flowList.map(([workflow, flow]) => [workflow, flowBatchOperation(workflow, flow)]),
) as Readonly<Record<FlowWorkflow, ReturnType<typeof flowBatchOperation>>>;

const titleOf = (workflow: string): string =>
  `${workflow.charAt(0).toUpperCase()}${workflow.slice(1)}`;

/** The bodies of both, as the OpenAPI document names them: `CreateAccountStart`, `...Batch`. */
export const flowBodies: Readonly<Record<string, object>> = Object.fromEntries(
  flowList.flatMap(([workflow]) => [
    [`${titleOf(workflow)}Start`, flowOperations[workflow].body],
    [`${titleOf(workflow)}Batch`, flowBatchOperations[workflow].body],
  ]),
);
