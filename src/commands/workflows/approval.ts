import type { Knex } from 'knex';
import { problem } from '../../kernel/problem.js';
import { within, type Scope } from '../../kernel/scope.js';
import type { AskedDecision } from '../../messages/definitions/approval.js';
import { Approval, ApprovalDecision } from '../../models/workflows/approval.js';
import { getApproval } from '../../queries/workflows/approval.js';
import type { ApprovalDto } from '../../schemas/workflows/approval.js';
import { approveRecord, rejectRecord } from '../flows/approve-record.js';

/**
 * 403: the caller has none of the roles of an approval, exactly (ADMIN alone is no other role), or has
 * started what it would approve.
 */
export function requireApprover(
  { actor }: Pick<Scope, 'actor'>,
  { roles: needed, execution }: Pick<ApprovalDto, 'roles' | 'execution'>,
  { roles, decision }: Pick<AskedDecision, 'roles' | 'decision'>,
): void {
  if (!needed.some((role) => roles.includes(role))) {
    throw problem.forbidden(`The role ${needed.join(' or ')} is required.`);
  }
  if (execution?.notStarter === true && execution.startedBy === actor && decision === 'approve') {
    throw problem.forbidden('Who started the workflow may not approve it.');
  }
}

const decided = (status: string) =>
  problem.conflict(`The approval is ${status} already.`, { field: 'status' });

async function keepDecision(
  trx: Knex.Transaction,
  { tenantId, actor, realNow }: Scope,
  { approvalId, decision, reason }: AskedDecision,
): Promise<void> {
  await ApprovalDecision.query(trx)
    .forTenant(tenantId)
    .insert({ approvalId, decision, reason, decidedBy: actor, decidedAt: realNow() });
}

/** Decides an approval of a workflow, whose row is held. */
async function decideTask(
  trx: Knex.Transaction,
  scope: Scope,
  approval: Approval,
  asked: AskedDecision,
): Promise<void> {
  const { tenantId, actor, now, realNow } = scope;
  const { id, status, dueAt, quorum } = approval;
  if (status !== 'pending') throw decided(status);
  // It was due by the time of the tenant, who may be a sandbox.
  if (dueAt <= now()) throw problem.conflict('The time of the approval is over.');
  const before = (await ApprovalDecision.of(trx, tenantId, [id])).get(id) ?? [];
  if (before.some(({ decidedBy }) => decidedBy === actor)) {
    throw problem.conflict('You have decided already; others have to approve, too.');
  }
  await keepDecision(trx, scope, asked);
  const isRejected = asked.decision === 'reject';
  // Whoever has rejected has ended it, so all of these have approved.
  if (!isRejected && before.length + 1 < quorum) return;
  await approval
    .$query(trx)
    .forTenant(tenantId)
    .patch({ status: isRejected ? 'rejected' : 'approved', decidedAt: realNow() });
}

/**
 * Decides an approval once (spec/beyond.md R352, R353). 403: without its role. 404: there is none. 409:
 * it is decided, its time is over, or its record cannot be approved.
 */
export async function decideApproval(scope: Scope, asked: AskedDecision): Promise<ApprovalDto> {
  const { approvalId } = asked;
  return scope.db.transaction(async (trx) => {
    const inner = within(scope, trx);
    const held = await Approval.lock(trx, scope.tenantId, approvalId);
    const found = await getApproval(inner, approvalId);
    requireApprover(scope, found, asked);
    if (held) await decideTask(trx, scope, held, asked);
    else if (found.kind !== 'workflow') {
      // The record is held first, so that one of two decisions finds it decided.
      const record = { entity: found.kind, id: approvalId };
      await (asked.decision === 'approve' ? approveRecord : rejectRecord)(inner, record);
      await keepDecision(trx, scope, asked);
    }
    return getApproval(inner, approvalId);
  });
}
