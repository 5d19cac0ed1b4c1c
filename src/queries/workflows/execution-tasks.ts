import type { Scope } from '../../kernel/scope.js';
import {
  definitionWorkflow,
  type DefinitionInput,
} from '../../messages/definitions/definition-run.js';
import { Approval, ApprovalDecision } from '../../models/workflows/approval.js';
import { WorkflowTask } from '../../models/workflows/task.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import { getExecution } from '../flows/execution.js';
import { listPage } from '../lists/listing.js';
import { presentDecisions } from './approval.js';
import { findExecutedDefinition, missingWorkflow } from './definition.js';

const jsonOf = (text: string | null): unknown =>
  text === null ? null : (JSON.parse(text) as unknown);

const presentTask = (task: WorkflowTask) => ({
  seq: task.seq,
  path: task.path,
  name: task.name,
  kind: task.kind,
  status: task.status,
  attempts: task.attempts,
  input: jsonOf(task.input),
  output: jsonOf(task.output),
  error: jsonOf(task.error),
  startedAt: task.startedAt.toISOString(),
  endedAt: task.endedAt?.toISOString() ?? null,
  undoneAt: task.undoneAt?.toISOString() ?? null,
});

/** The tasks of an execution. 404: there is no such workflow or execution. */
export async function listTasks(scope: Scope, key: string, executionId: string, page: PageRequest) {
  const found = await findExecutedDefinition(scope, key);
  if (!found) throw missingWorkflow(key);
  const workflow = definitionWorkflow(found.id);
  const { input } = await getExecution(scope, workflow, executionId);
  const { version = null } = (input ?? {}) as Partial<DefinitionInput>;
  const query = WorkflowTask.query(scope.db.read)
    .forTenant(scope.tenantId)
    .where({ executionId })
    .orderBy('seq');
  const { items, ...rest } = await listPage(query, page, presentTask);
  const calls = items.filter(({ kind }) => kind === 'call').map(({ seq }) => seq);
  const approvalOf = await approvalsOf(scope, executionId, calls);
  return {
    ...rest,
    items: items.map((item) => ({
      ...item,
      workflowVersion: version,
      approval: approvalOf(item.seq),
    })),
  };
}

async function approvalsOf({ db, tenantId }: Scope, executionId: string, seqs: readonly number[]) {
  const approvals = await Approval.ofTasks(db.read, tenantId, executionId, seqs);
  const ids = [...approvals.values()].map(({ id }) => id);
  const decisions = await ApprovalDecision.of(db.read, tenantId, ids);
  return (seq: number) => {
    const found = approvals.get(seq);
    if (!found) return null;
    const { id, status } = found;
    return { id, status, decisions: presentDecisions(decisions.get(id)) };
  };
}
