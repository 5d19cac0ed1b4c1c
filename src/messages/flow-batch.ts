import type { FlowInput } from './flow-run.js';

/** A start node of a batch, with its place in the request. */
export interface FlowBatchItem {
  readonly index: number;
  readonly input: FlowInput;
}

/** Input of the workflow that runs a flow for many start nodes (spec/flows.md R39). */
export interface FlowBatchInput {
  /** The flow, by the name of its workflow. */
  readonly flow: string;
  readonly items: readonly FlowBatchItem[];
}

/** Some items of a batch: from one place of the list, up to another. */
export interface FlowBatchPart {
  readonly from: number;
  readonly end: number;
}

/** Output of such a workflow: the number of items by outcome. */
export interface FlowBatchCounts {
  readonly completed: number;
  readonly failed: number;
}

/** The workflow id in the execution of an item: that of its batch, and its place. */
export const itemWorkflowId = (batchWorkflowId: string, index: number): string =>
  `${batchWorkflowId}#${index}`;

const itemPlace = /(\/flow-batch\/[0-9a-f-]{36})#\d+$/;

/** The workflow in Temporal that an execution belongs to, by the workflow id in its row. */
export const temporalWorkflowId = (workflowId: string): string =>
  workflowId.replace(itemPlace, '$1');
