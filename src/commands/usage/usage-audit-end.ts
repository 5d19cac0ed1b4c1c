import type { Scope } from '../../kernel/scope.js';
import type { UsageAuditInput, UsageAuditResult } from '../../messages/usage/usage-audit.js';
import { recordWebhookEvent } from '../webhooks/webhook-event.js';

/** What an audit that is over has come to. */
export interface UsageAuditEnd {
  readonly executionId: string;
  readonly input: UsageAuditInput;
  readonly result: UsageAuditResult;
}

/**
 * Ends an audit: records a webhook event if there are differences; the execution's output has them.
 */
export async function endUsageAudit(scope: Scope, { executionId, input, result }: UsageAuditEnd) {
  const output = { ...input, ...result };
  return scope.db.transaction(async (trx) => {
    if (result.differenceCount > 0) {
      await recordWebhookEvent(trx, scope, {
        event: 'audit.difference',
        recordId: executionId,
        data: { executionId, ...output },
      });
    }
    return output;
  });
}
