import type { Static } from 'typebox';
import { definitionOf } from '../messages/definitions/definition-run.js';
import { temporalWorkflowId } from '../messages/flow-batch.js';
import { Problem, problem } from '../kernel/problem.js';
import type { Scope } from '../kernel/scope.js';
import type { Platform } from '../process/platform.js';
import {
  getExecution,
  shownExecution,
  type ExecutionRecord,
  type ShownExecution,
} from '../queries/flows/execution.js';
import type { ExecuteBody, Execution } from '../schemas/flows/execution.js';
import { flowBody } from '../schemas/flows/flow.js';
import { checkFor } from '../schemas/fields/validator.js';
import { flowOperations } from '../schemas/flows/index.js';
import { billingRun } from './billing/billing-run.js';
import { creditNote } from './billing/credit-note.js';
import { erasure } from './ageing/erasure.js';
import { checkRoles } from '../schemas/http/operation-access.js';
import type { DefinedFlow, KnownWorkflow, RecordedWorkflow } from './known-workflows.js';
import { problemCode } from '../schemas/http/problem.js';
import { resolveNaturalKeys } from '../queries/keys/resolve-natural-keys.js';
import { runFlow, startInBackground, type FlowStart } from './run-flow.js';
import { definedFlow } from './workflows/run-definition.js';
import { slugFlow } from './run-by-slug.js';
import { usageAudit } from './usage/usage-audit.js';
import { rerating } from './usage/usage-rerating.js';
import { repricing } from './usage/repricing.js';

type ExecutionDto = Static<typeof Execution>;

/** How executions of a flow are shown (spec/flows.md R23). */
export function executionView(
  { workflow, flowId, name }: RecordedWorkflow,
  { temporal: { uiUrl, namespace } }: Platform,
): (record: ExecutionRecord | ShownExecution) => ExecutionDto {
  return (record) => {
    const shown = 'version' in record ? record : shownExecution(record);
    const { id, status, startedAt, completedAt, input, output, error, actor, version } = shown;
    const place = `${encodeURIComponent(temporalWorkflowId(record.workflowId))}/${record.runId}`;
    return {
      executionId: id,
      workflowId: flowId,
      workflowName: name,
      workflowVersion: definitionOf(workflow) === undefined ? null : version,
      status,
      actor,
      startedAt: startedAt.toISOString(),
      completedAt: completedAt?.toISOString() ?? null,
      input,
      output,
      error: error && {
        code: problemCode(error.kind),
        message: error.message,
        status: new Problem(error.kind, error.message).status,
        details: { ...error.details },
      },
      temporalUrl:
        uiUrl === null ? null : `${uiUrl}/namespaces/${namespace}/workflows/${place}/history`,
    };
  };
}

/** The flow to start for an execution. 400: the data are not valid. */
async function startOf(
  scope: Scope,
  known: KnownWorkflow | DefinedFlow,
  data: Record<string, unknown>,
  idempotencyKey: string | null,
): Promise<FlowStart> {
  const check = checkFor(scope);
  if ('defined' in known) return definedFlow(scope, known.defined, data, idempotencyKey);
  if (!('flow' in known)) {
    if (known.workflow === 'auditUsage') {
      return usageAudit(check(known.data, data), scope.now(), idempotencyKey);
    }
    if (known.workflow === 'creditInvoice') {
      const credited = check(known.data, data);
      await resolveNaturalKeys(scope, known.data, credited);
      return creditNote(credited, idempotencyKey);
    }
    if (known.workflow === 'rerateUsage') {
      const asked = check(known.data, data);
      await resolveNaturalKeys(scope, known.data, asked);
      return rerating(scope, asked, idempotencyKey);
    }
    if (known.workflow === 'repriceUsage')
      return repricing(scope, known.data, data, idempotencyKey);
    if (known.workflow === 'erasePerson') {
      const asked = check(known.data, data);
      await resolveNaturalKeys(scope, known.data, asked);
      return erasure(asked, idempotencyKey);
    }
    const asked = check(known.data, data);
    await resolveNaturalKeys(scope, known.data, asked);
    return billingRun(asked, idempotencyKey);
  }
  const { workflow, flow } = known;
  const body = check(flowBody(flow), data) as Record<string, unknown>;
  await resolveNaturalKeys(scope, flowBody(flow), body);
  return slugFlow({ workflow, body, isDraft: false, idempotencyKey });
}

/**
 * 403: a flow requires the same roles by its name as by its slug; flows of the catalog and erasures
 * require ADMIN.
 */
export function checkWorkflow({ roles }: Scope, known: RecordedWorkflow): void {
  if ('flow' in known) checkRoles(flowOperations[known.workflow], roles);
  if (known.workflow === 'erasePerson' && !roles.includes('ADMIN')) {
    throw problem.forbidden('The role ADMIN is required.');
  }
}

/**
 * Executes a workflow (spec/flows.md R23 to R26); a failed one is answered with its error. 400: the
 * data are not valid, and nothing is executed.
 */
export async function executeFlow(
  scope: Scope,
  platform: Platform,
  known: KnownWorkflow | DefinedFlow,
  { data, async: isAsync = false }: Static<typeof ExecuteBody>,
  idempotencyKey: string | null,
): Promise<ExecutionDto> {
  const { workflow } = known;
  checkWorkflow(scope, known);
  const start = await startOf(scope, known, data, idempotencyKey);
  const executionId = isAsync
    ? await startInBackground(scope, platform, start)
    : await runFlow(scope, platform, start).then(
        (result) => result.executionId,
        (error: unknown) => failedExecution(scope, workflow, error),
      );
  return executionView(known, platform)(await getExecution(scope, workflow, executionId));
}

/** The id of the execution that failed with an error; rethrows errors without one. */
async function failedExecution(scope: Scope, workflow: string, error: unknown): Promise<string> {
  const id = error instanceof Problem ? error.details['flowExecutionId'] : undefined;
  if (typeof id !== 'string') throw error;
  if ((error as Problem).kind !== 'timeout') return id;
  // Either the wait for it has taken too long, or something in it has, and it has failed.
  const found = await getExecution(scope, workflow, id).catch(() => undefined);
  if (found === undefined || found.status === 'running') throw error;
  return id;
}
