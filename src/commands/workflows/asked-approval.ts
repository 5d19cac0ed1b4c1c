import { seededId } from '../../kernel/id.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import type {
  ApprovalLook,
  ApprovalState,
  AskedApproval,
} from '../../messages/definitions/approval.js';
import { Approval, ApprovalDecision } from '../../models/workflows/approval.js';
import { WorkflowDefinition } from '../../models/workflows/definition.js';
import { presentDecisions } from '../../queries/workflows/approval.js';

/** The execution that asks, and who started it. */
export interface AskingExecution {
  readonly executionId: string;
  readonly workflowId: string;
  readonly definitionId: string;
  readonly startedBy: string;
}

/** The approval of a run of a task: the same run has the same one, so that it is made once. */
const approvalIdOf = (executionId: string, seq: number): string =>
  seededId(executionId, `approval/${seq}`);

/** Makes the approval that a task waits for; the same again makes none. */
export async function openApproval(
  { db, tenantId, realNow }: Scope,
  { executionId, workflowId, definitionId, startedBy }: AskingExecution,
  { path, dueAt, details, roles, ...asked }: AskedApproval,
): Promise<void> {
  await db.transaction(async (trx) => {
    const definition = await WorkflowDefinition.query(trx)
      .forTenant(tenantId)
      .findById(definitionId);
    await Approval.query(trx)
      .forTenant(tenantId)
      .insert({
        ...asked,
        id: approvalIdOf(executionId, asked.seq),
        definitionId,
        workflowName: definition?.name ?? '',
        workflowId,
        executionId,
        task: path,
        details,
        roles: roles === null ? null : [...roles],
        startedBy,
        dueAt: new Date(dueAt),
        createdAt: realNow(),
      })
      .onConflict(['tenantId', 'id'])
      .ignore();
  });
}

const endOf = { look: undefined, expire: 'expired', cancel: 'canceled' } as const;

/** How the approval of a run of a task stands; one that nobody has decided ends where it is asked to. */
export async function lookAtApproval(
  { db, tenantId, realNow }: Scope,
  executionId: string,
  { seq, as }: ApprovalLook,
): Promise<ApprovalState> {
  const id = approvalIdOf(executionId, seq);
  return db.transaction(async (trx) => {
    const found = await Approval.lock(trx, tenantId, id);
    // It was canceled before it was made.
    if (!found && as === 'cancel') return { approvalId: id, status: 'canceled', decisions: [] };
    if (!found) throw problem.notFound(`There is no approval '${id}'.`);
    const end = endOf[as];
    const isEnding = found.status === 'pending' && end !== undefined;
    if (isEnding) {
      await found.$query(trx).forTenant(tenantId).patch({ status: end, decidedAt: realNow() });
    }
    const decisions = (await ApprovalDecision.of(trx, tenantId, [id])).get(id) ?? [];
    const status = isEnding ? end : found.status;
    return { approvalId: id, status, decisions: presentDecisions(decisions) };
  });
}
