import { Problem } from '../kernel/problem.js';
import type { Scope } from '../kernel/scope.js';
import type { FlowBatchItem } from '../messages/flow-batch.js';
import type { FlowInput } from '../messages/flow-run.js';
import type { Platform } from '../process/platform.js';
import { findItemOutcomes } from '../queries/flows/flow-batch.js';
import { checkFor } from '../schemas/fields/validator.js';
import { flowBody } from '../schemas/flows/flow.js';
import { flows, type FlowWorkflow } from '../schemas/flows/index.js';
import { runFlow } from './run-flow.js';
import { slugFlow } from './run-by-slug.js';

/** A call of a flow with many start nodes. */
export interface BatchCall {
  readonly workflow: FlowWorkflow;
  /** The start nodes, not checked yet: one that is not valid fails alone. */
  readonly bodies: readonly unknown[];
  readonly idempotencyKey: string | null;
}

/** What came of a start node; one that is not valid has no execution. */
export type BatchItem =
  | { readonly flowExecutionId: string; readonly output: unknown }
  | { readonly flowExecutionId?: string; readonly problem: Problem };

/** The items that can be run, and the problems of the others by their places. */
function checkItems(scope: Scope, workflow: FlowWorkflow, bodies: readonly unknown[]) {
  const check = checkFor(scope);
  const schema = flowBody(flows[workflow]);
  const items: FlowBatchItem[] = [];
  const problems = new Map<number, Problem>();
  for (const [index, given] of bodies.entries()) {
    try {
      const body = check(schema, given) as Record<string, unknown>;
      const { input } = slugFlow({ workflow, body, isDraft: false, idempotencyKey: null });
      items.push({ index, input: input as FlowInput });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      problems.set(index, error);
    }
  }
  return { items, problems };
}

/**
 * Runs a flow for each of many start nodes, in one workflow (spec/flows.md R39): what came of
 * each, in the order of the request. 504: it takes longer than FLOW_TIMEOUT_MS, and goes on.
 */
export async function runBatch(
  scope: Scope,
  platform: Platform,
  { workflow, bodies, idempotencyKey }: BatchCall,
): Promise<readonly BatchItem[]> {
  const { items, problems } = checkItems(scope, workflow, bodies);
  const { name, entity } = flows[workflow];
  const { executionId } = await runFlow(scope, platform, {
    workflow: 'runFlowBatch',
    idempotencyKey,
    entityType: entity,
    entityId: 'batch',
    input: { flow: workflow, items },
    businessKey: (id) => `flow-batch/${id}`,
    summary: `${name}: ${items.length} at once`,
  });
  const indexes = items.map(({ index }) => index);
  const outcomes = await findItemOutcomes(scope, executionId, indexes);
  return bodies.map((_body, index): BatchItem => {
    const refused = problems.get(index);
    if (refused) return { problem: refused };
    const ended = outcomes.get(index);
    if (!ended) throw new Error(`Item ${index} of the batch ${executionId} has no end.`);
    const { executionId: flowExecutionId, outcome } = ended;
    if (outcome.ok) return { flowExecutionId, output: outcome.output };
    const { kind, message, details } = outcome.failure;
    return { flowExecutionId, problem: new Problem(kind, message, details) };
  });
}
