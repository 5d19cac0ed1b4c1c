import { defined } from '../kernel/defined.js';
import type { Scope } from '../kernel/scope.js';
import type { Platform } from '../process/platform.js';
import { isCreate } from '../schemas/flows/flow.js';
import { flows, type FlowWorkflow } from '../schemas/flows/index.js';
import { runFlow, type FlowResult, type FlowStart } from './run-flow.js';

/** A call of a flow by its slug. */
export interface SlugCall {
  readonly workflow: FlowWorkflow;
  /** The start node, checked; of a create flow also the `id` of a draft to complete. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly isDraft: boolean;
  readonly idempotencyKey: string | null;
}

/** Flows that may be called again at once: each call is another change. */
const repeatable = /^(?:edit|clone)/;

/** The flow that a call starts. */
export function slugFlow({ workflow, body, isDraft, idempotencyKey }: SlugCall): FlowStart {
  const flow = flows[workflow];
  const { entity, slug } = flow;
  const verb = slug.slice(slug.lastIndexOf('/') + 1);
  const { id, ...fields } = body;
  const draftId = isCreate(flow) && typeof id === 'string' ? id : undefined;
  const start = isCreate(flow) ? fields : body;
  const named = start[flow.keyField];
  const key = draftId ?? (typeof named === 'string' ? named : undefined);
  return {
    workflow,
    idempotencyKey,
    entityType: entity,
    entityId: key ?? 'new',
    input: { start, isDraft, ...defined({ draftId }) },
    businessKey: (executionId) =>
      isCreate(flow)
        ? `${entity}/${key ?? executionId}`
        : `${entity}/${key ?? ''}/${verb}${repeatable.test(verb) ? `/${executionId}` : ''}`,
    summary: `${flow.name}: ${key ?? 'new'}${isDraft ? ' (draft)' : ''}`,
  };
}

/** Runs a flow by its slug (spec/flows.md R2). */
export const runSlug = (
  scope: Scope,
  platform: Platform,
  call: SlugCall,
): Promise<FlowResult<unknown>> => runFlow(scope, platform, slugFlow(call));
