import type { Scope } from '../../kernel/scope.js';
import { requireHalfOpenRange } from '../../queries/lists/time-range.js';
import { requireReferences } from '../../queries/usage/corrections/range-references.js';
import type { RerateData } from '../../schemas/usage/usage-rerating.js';
import type { FlowStart } from '../run-flow.js';

/** A range to rate again. 400: it does not end after it begins, or is limited to what does not exist. */
export async function rerating(
  scope: Scope,
  data: RerateData,
  idempotencyKey: string | null,
): Promise<FlowStart<'rerateUsage'>> {
  const { from, to } = requireHalfOpenRange(data);
  const { accountId = null, contractId = null, serviceId = null, reason } = data;
  await requireReferences(scope, { accountId, contractId, serviceId });
  const dryRun = data.dryRun ?? false;
  return {
    workflow: 'rerateUsage',
    input: { from, to, accountId, contractId, serviceId, reason, dryRun },
    businessKey: (executionId) => `rerate-usage/${executionId}`,
    entityType: 'usage',
    entityId: accountId ?? 'all',
    idempotencyKey,
    isLong: true,
    summary: `rate usage from ${from} to ${to} again`,
  };
}
