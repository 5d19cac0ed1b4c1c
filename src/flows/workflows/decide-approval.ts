import { requireApprover } from '../../commands/workflows/approval.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import type { AskedDecision } from '../../messages/definitions/approval.js';
import type { Platform } from '../../process/platform.js';
import { getApproval } from '../../queries/workflows/approval.js';
import type { ApprovalDto, DecisionBody } from '../../schemas/workflows/approval.js';
import { runFlow } from '../run-flow.js';

/** Decides an approval, and answers with it. 403, for each workflow too; 404, 409. */
export async function decideApproval(
  scope: Scope,
  platform: Platform,
  { approvalId, decision, reason = null }: DecisionBody & { readonly approvalId: string },
  idempotencyKey: string | null,
): Promise<ApprovalDto> {
  if (scope.depth !== undefined) {
    throw problem.forbidden('Workflows decide no approvals: people do.');
  }
  const input: AskedDecision = { approvalId, decision, reason, roles: scope.roles };
  // Who may not decide starts nothing; whether it is decided, the step sees, under its lock.
  requireApprover(scope, await getApproval(scope, approvalId), input);
  const { output } = await runFlow(scope, platform, {
    workflow: 'decideApproval',
    input,
    businessKey: (executionId) => `approval/${approvalId}/${executionId}`,
    entityType: 'approval',
    entityId: approvalId,
    idempotencyKey,
    summary: `${decision} ${approvalId}`,
  });
  return output;
}
